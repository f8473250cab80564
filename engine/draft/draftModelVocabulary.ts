import { SlipstreamError } from '../errors.ts';
import { loadTokenizer, type Tokenizer } from '../model/tokenizer.ts';

/** A model and how it cuts text. */
export interface Vocabulary {
  /** Absent for a folder without one. */
  readonly tokenizer: Tokenizer | undefined;
  /** Rows of the model's embedding: often a few more than the tokenizer has tokens. */
  readonly vocabSize: number;
}

/** Text that tells tokenizers apart: identifiers, digits, runs of spaces, scripts beside Latin, characters of four bytes. */
const probes = [
  'export async function readLines(path: string): Promise<string[]> {\n  return [];\n}\n',
  'def __init__(self, *args, **kwargs):\n        self._value = kwargs.get("value", 0x1F)\n',
  '#include <vector>\n\tfor (size_t i = 0; i < 1000000; ++i) { sum += a[i] * 3.14159e-10; }\r\n',
  "const naïve = 'Größe: 42 €';  // 変数の値, значение, 🙂\n\n\n",
];

/** The text of one token in so many is compared: enough to see that a vocabulary is another one. */
const ID_STRIDE = 97;

/**
 * Makes sure that the draft model's tokens are the target's. A folder without a tokenizer.json is taken to share the
 * other's, if both vocabularies are of one size.
 *
 * @throws SlipstreamError model.unsupported when they are not; model.corrupt, io for files that cannot be read
 */
export async function checkDraftVocabulary(
  target: Vocabulary,
  draft: { readonly dir: string; readonly vocabSize: number },
): Promise<void> {
  const tokenizer = await loadTokenizerIfAny(draft.dir);
  const difference =
    tokenizer && target.tokenizer
      ? tokenizerDifference(target.tokenizer, tokenizer)
      : sizeDifference(target.vocabSize, draft.vocabSize);
  if (difference === undefined) return;
  throw new SlipstreamError(
    'model.unsupported',
    `${draft.dir} cannot draft for this model: ${difference}. A draft model needs the tokenizer of its target.`,
  );
}

async function loadTokenizerIfAny(dir: string): Promise<Tokenizer | undefined> {
  try {
    return await loadTokenizer(dir);
  } catch (error) {
    if (error instanceof SlipstreamError && error.code === 'model.notFound') return undefined;
    throw error;
  }
}

function sizeDifference(target: number, draft: number): string | undefined {
  if (target === draft) return undefined;
  return `without a tokenizer.json in both folders, vocabularies have to be of one size: its has ${draft} tokens, the target's ${target}`;
}

function tokenizerDifference(target: Tokenizer, draft: Tokenizer): string | undefined {
  return (
    specialTokenDifference(target, draft) ?? idDifference(target, draft) ?? encodingDifference(target, draft)
  );
}

function specialTokenDifference(target: Tokenizer, draft: Tokenizer): string | undefined {
  for (const name of new Set([...target.specialTokens.keys(), ...draft.specialTokens.keys()])) {
    const [inTarget, inDraft] = [target, draft].map((tokenizer) => tokenizer.specialTokenId(name));
    if (inTarget !== inDraft) {
      return `its special token ${name} has the id ${inDraft ?? '(none)'}, the target's ${inTarget ?? '(none)'}`;
    }
  }
  return undefined;
}

function idDifference(target: Tokenizer, draft: Tokenizer): string | undefined {
  if (target.vocabSize !== draft.vocabSize) {
    return `its tokenizer has ${draft.vocabSize} tokens, the target's ${target.vocabSize}`;
  }
  for (let id = 0; id < target.vocabSize; id += ID_STRIDE) {
    const [inTarget, inDraft] = [target, draft].map((tokenizer) =>
      JSON.stringify(tokenizer.decodeVisible([id])),
    );
    if (inTarget !== inDraft) return `its token ${id} is ${inDraft}, the target's ${inTarget}`;
  }
  return undefined;
}

function encodingDifference(target: Tokenizer, draft: Tokenizer): string | undefined {
  const different = probes.find((text) => target.encode(text).join() !== draft.encode(text).join());
  return different === undefined
    ? undefined
    : `its tokenizer cuts ${JSON.stringify(different.trim())} into other tokens`;
}
