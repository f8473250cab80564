/**
 * Writes the held-out texts as one tokenizer sees them, so that models with different tokenizers are measured on the
 * same text: JSON lines `{language, kind, bytes, tokens, scoredFrom}`. Only tokens from `scoredFrom` on are scored. Those
 * of a `plain` text, a file's first lines, spell `bytes` bytes of UTF-8; those of a `middle`, a suffix-first gap of one line
 * or block, do so too and end with the end token, which spells none.
 * Run: node --import tsx engine/training/samples/encodeHeldOut.ts TOKENIZER.json OUTPUT.jsonl [TEXTS_A_LANGUAGE]
 */
import type { CorpusDocument } from '../corpus/document.ts';
import { LANGUAGES } from '../corpus/languages.ts';
import { readDocuments } from '../corpus/readDocuments.ts';
import { Random } from '../random.ts';
import { BpeEncoder } from '../tokenizer/bpeEncoder.ts';
import { writeWholeFile } from '../wholeFile.ts';
import { pickSpan } from './span.ts';

const SEED = 7;
const PLAIN_CHARACTERS = 1_400;
const PREFIX_CHARACTERS = 1_000;
const SUFFIX_CHARACTERS = 400;

interface HeldOutText {
  readonly language: string;
  readonly kind: 'plain' | 'middle';
  readonly bytes: number;
  readonly tokens: readonly number[];
  readonly scoredFrom: number;
}

const [tokenizerPath, output, textsALanguage = '60'] = process.argv.slice(2);
if (!tokenizerPath || !output)
  throw new Error('usage: encodeHeldOut.ts TOKENIZER.json OUTPUT.jsonl [TEXTS_A_LANGUAGE]');
const encoder = BpeEncoder.fromFile(tokenizerPath);
const endOfText = encoder.special('<|endoftext|>');

function plainText({ language, text }: CorpusDocument): HeldOutText {
  const scored = text.slice(0, PLAIN_CHARACTERS);
  const tokens = [endOfText, ...encoder.encode(scored)];
  return { language, kind: 'plain', bytes: Buffer.byteLength(scored), tokens, scoredFrom: 1 };
}

function middleText({ language, text }: CorpusDocument, random: Random): HeldOutText | undefined {
  const span = pickSpan(text, random);
  if (!span || span.end === span.start) return undefined;
  const middle = text.slice(span.start, span.end);
  const context = [
    encoder.special('<|fim_suffix|>'),
    ...encoder.encode(text.slice(span.end, span.end + SUFFIX_CHARACTERS)),
    encoder.special('<|fim_prefix|>'),
    ...encoder.encode(text.slice(Math.max(0, span.start - PREFIX_CHARACTERS), span.start)),
    encoder.special('<|fim_middle|>'),
  ];
  const tokens = [...context, ...encoder.encode(middle), endOfText];
  return { language, kind: 'middle', bytes: Buffer.byteLength(middle), tokens, scoredFrom: context.length };
}

const byLanguage = new Map<string, CorpusDocument[]>(LANGUAGES.map((language) => [language, []]));
for await (const document of readDocuments('heldOut')) byLanguage.get(document.language)!.push(document);
const texts: HeldOutText[] = [];
for (const documents of byLanguage.values()) {
  const random = new Random(SEED);
  random.shuffle(documents);
  const chosen = documents.slice(0, Number(textsALanguage));
  for (const document of chosen) {
    texts.push(plainText(document));
    for (let place = 0; place < 2; place++) {
      const middle = middleText(document, random);
      if (middle) texts.push(middle);
    }
  }
}
writeWholeFile(
  output,
  texts.map((text) => `${JSON.stringify(text)}\n`),
);
console.log(`${texts.length} texts`);
