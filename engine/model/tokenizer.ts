import { SlipstreamError } from '../errors.ts';
import { PieceEncoder } from './pieceEncoder.ts';
import { byteFallbackBytes, byteLevelBytes, type TokenBytes } from './tokenBytes.ts';
import {
  type AddedToken,
  readTokenizerConfig,
  readTokenizerFile,
  type Stage,
  type TokenizerConfig,
  type TokenizerFile,
} from './tokenizerFiles.ts';

/**
 * Tokens in, text out, one token at a time: what it returns never ends inside a character. One that no further token
 * completes is never returned.
 */
export interface StreamDecoder {
  /** The text that became complete with this token; special tokens have none. */
  push(id: number): string;
}

/**
 * Text <-> tokens of one model.
 *
 * Text is only ever text: a special token's name inside it is spelled out in ordinary tokens.
 * decode(encode(text)) equals text but for two things: lone surrogates become U+FFFD, and the model's own
 * normalizer applies (Qwen: NFC, so that decomposed characters come back composed). Its tokens are therefore no
 * measure for places in a document: offsets are always counted in the document's text.
 */
export interface Tokenizer {
  readonly vocabSize: number;
  /** Control tokens, name to id: they end, separate or mark text and never are text. */
  readonly specialTokens: ReadonlyMap<string, number>;
  readonly specialTokenIds: ReadonlySet<number>;
  /** The token every sequence starts with, where the model wants one. */
  readonly bosTokenId: number | undefined;
  /** `fim_template` of tokenizer_config.json. */
  readonly fimTemplate: string | undefined;
  /** `model_max_length` of tokenizer_config.json: the longest sequence that the model was made for. */
  readonly maxLength: number;
  specialTokenId(name: string): number | undefined;
  encode(text: string): Int32Array;
  /** Special tokens are left out. */
  decode(ids: Iterable<number>): string;
  /** Special tokens are shown by name, unknown ids as `<?id>`. */
  decodeVisible(ids: Iterable<number>): string;
  createDecoder(): StreamDecoder;
}

/** @throws SlipstreamError model.notFound, model.corrupt, model.unsupported or io; the message names the file */
export async function loadTokenizer(modelDir: string): Promise<Tokenizer> {
  const [file, config] = await Promise.all([readTokenizerFile(modelDir), readTokenizerConfig(modelDir)]);
  try {
    return new BpeTokenizer(file, config);
  } catch (cause) {
    throw new SlipstreamError(
      'model.unsupported',
      `The tokenizer.json in ${modelDir} uses something that is not supported: ${(cause as Error).message}`,
      { cause },
    );
  }
}

class BpeTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly specialTokens: ReadonlyMap<string, number>;
  readonly specialTokenIds: ReadonlySet<number>;
  readonly bosTokenId: number | undefined;
  readonly maxLength: number;
  readonly fimTemplate: string | undefined;
  readonly #specialNames: ReadonlyMap<number, string>;
  readonly #pieces: PieceEncoder;
  readonly #tokens: string[] = []; // [id]
  readonly #bytes: Uint8Array[] = []; // [id], filled when first asked for
  readonly #toBytes: TokenBytes;
  readonly #textTokens: ReadonlySet<number>;
  readonly #addsSpace: boolean;

  constructor(file: TokenizerFile, config: TokenizerConfig) {
    const isSpecial = (token: AddedToken) => isControl(token, file.model.vocab);
    const special = file.addedTokens.filter(isSpecial);
    const text = file.addedTokens.filter((token) => !isSpecial(token));
    this.specialTokens = new Map(special.map(({ content, id }) => [content, id]));
    this.#specialNames = new Map(special.map(({ content, id }) => [id, content]));
    this.specialTokenIds = new Set(this.#specialNames.keys());
    this.#textTokens = new Set(text.map(({ id }) => id));
    for (const [token, id] of Object.entries(file.model.vocab)) this.#tokens[id] = token;
    for (const { id, content } of file.addedTokens) this.#tokens[id] = content;
    this.vocabSize = this.#tokens.length;
    this.#pieces = new PieceEncoder(file, text);
    this.#toBytes = this.#pieces.byteLevel ? byteLevelBytes : byteFallbackBytes;
    // SentencePiece models put a space before the text, and take it off again when decoding.
    this.#addsSpace = this.#bytesOf(this.#pieces.encode('a')[0])[0] === 0x20;
    this.bosTokenId = bosTokenId(file.postProcessor, config, this.specialTokens);
    this.fimTemplate = config.fimTemplate;
    this.maxLength = config.maxLength;
  }

  specialTokenId(name: string): number | undefined {
    return this.specialTokens.get(name);
  }

  encode(text: string): Int32Array {
    return Int32Array.from(this.#pieces.encode(text));
  }

  decode(ids: Iterable<number>): string {
    const text = this.#decode(ids, () => '');
    return this.#addsSpace && text.startsWith(' ') ? text.slice(1) : text;
  }

  decodeVisible(ids: Iterable<number>): string {
    return this.#decode(ids, (id) => this.#specialNames.get(id) ?? `<?${id}>`);
  }

  createDecoder(): StreamDecoder {
    const utf8 = newUtf8Decoder();
    return {
      push: (id) => utf8.decode(this.#bytesOf(id), { stream: true }),
    };
  }

  #decode(ids: Iterable<number>, nameOf: (id: number) => string): string {
    const utf8 = newUtf8Decoder();
    let text = '';
    for (const id of ids) {
      const bytes = this.#bytesOf(id);
      // A control token ends a character that was under way.
      text += bytes.length === 0 ? utf8.decode() + nameOf(id) : utf8.decode(bytes, { stream: true });
    }
    return text + utf8.decode();
  }

  /** Empty for control tokens and for ids outside the vocabulary (models pad theirs). */
  #bytesOf(id: number): Uint8Array {
    const known = this.#bytes[id];
    if (known !== undefined) return known;
    const token = this.#tokens[id];
    if (token === undefined || this.specialTokenIds.has(id)) return new Uint8Array(0);
    const bytes = this.#textTokens.has(id) ? new TextEncoder().encode(token) : this.#toBytes(token);
    this.#bytes[id] = bytes;
    return bytes;
  }
}

/** ignoreBOM: a byte order mark in a document is text and stays. */
const newUtf8Decoder = () => new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Which added tokens are control tokens. Files are not reliable about it: Qwen2.5 marks `<|fim_middle|>` as not
 * special, while Gemma and DeepSeek add plain text (`<h1>`, `ü`). Markup that only was added counts as control.
 */
function isControl(token: AddedToken, vocab: Readonly<Record<string, number>>): boolean {
  if (token.special || /^<[|｜].*[|｜]>$/u.test(token.content)) return true;
  return /^(<.*>|\[.*\])$/u.test(token.content) && !Object.hasOwn(vocab, token.content);
}

/** The start token: the post-processor's template says so, or tokenizer_config.json. */
function bosTokenId(
  postProcessor: Stage | null,
  config: TokenizerConfig,
  special: ReadonlyMap<string, number>,
): number | undefined {
  const fromTemplate = postProcessor === null ? undefined : templateStart(postProcessor);
  const name = fromTemplate ?? (config.addBosToken === true ? config.bosToken : undefined);
  return name === undefined || config.addBosToken === false ? undefined : special.get(name);
}

function templateStart(stage: Stage): string | undefined {
  const stages = stage.type === 'Sequence' ? (stage.processors as Stage[]) : [stage];
  const template = stages.find(({ type }) => type === 'TemplateProcessing');
  const [first] = (template?.single ?? []) as { SpecialToken?: { id: string } }[];
  return first?.SpecialToken?.id;
}
