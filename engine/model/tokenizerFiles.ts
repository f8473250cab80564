import { join } from 'node:path';
import { parseJsonObject } from '../compile/jsonObject.ts';
import { SlipstreamError } from '../errors.ts';
import { readRegular } from '../regularFile.ts';

/** `added_tokens` of tokenizer.json: matched in text before the model sees it, or control tokens. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** A stage of tokenizer.json (pre_tokenizer, normalizer, ...): `type` and options of its own. */
export interface Stage {
  readonly type: string;
  readonly [option: string]: unknown;
}

interface BpeModel {
  readonly type: 'BPE';
  readonly vocab: Readonly<Record<string, number>>;
  readonly merges: readonly unknown[];
}

/** tokenizer.json as far as this engine reads it; the rest is passed to the library as it is. */
export interface TokenizerFile {
  readonly model: BpeModel;
  readonly addedTokens: readonly AddedToken[];
  readonly normalizer: Stage | null;
  readonly preTokenizer: Stage | null;
  readonly postProcessor: Stage | null;
}

/** tokenizer_config.json as far as this engine reads it. */
export interface TokenizerConfig {
  readonly bosToken: string | undefined;
  readonly addBosToken: boolean | undefined;
  /** Our extension: how this model wants a prompt with a hole, `{prefix}` and `{suffix}` marked. */
  readonly fimTemplate: string | undefined;
  /** `model_max_length`: longer sequences are not what the model was made for. Some files have 1e30 for no limit. */
  readonly maxLength: number;
}

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws SlipstreamError model.notFound, model.corrupt, model.unsupported, io; the message names the file */
export async function readTokenizerFile(modelDir: string): Promise<TokenizerFile> {
  const path = join(modelDir, 'tokenizer.json');
  const json = await readJson(path);
  if (json === undefined) {
    throw new SlipstreamError(
      'model.notFound',
      `${path} does not exist. A model folder needs a tokenizer.json (Hugging Face fast tokenizer).`,
    );
  }
  const corrupt = (what: string) =>
    new SlipstreamError('model.corrupt', `${path}: ${what}. Download the file again.`);
  return {
    model: parseModel(json.model, path, corrupt),
    addedTokens: parseAddedTokens(json.added_tokens, corrupt),
    normalizer: parseStage(json, 'normalizer', corrupt),
    preTokenizer: parseStage(json, 'pre_tokenizer', corrupt),
    postProcessor: parseStage(json, 'post_processor', corrupt),
  };
}

/** A missing file is an empty config: tokenizer.json alone is enough to encode and decode. */
export async function readTokenizerConfig(modelDir: string): Promise<TokenizerConfig> {
  const path = join(modelDir, 'tokenizer_config.json');
  const json = (await readJson(path)) ?? {};
  const { fim_template: fimTemplate, add_bos_token: addBosToken, bos_token: bos } = json;
  const { model_max_length: maxLength } = json;
  if (fimTemplate !== undefined && typeof fimTemplate !== 'string') {
    throw new SlipstreamError('model.corrupt', `${path}: fim_template has to be a string.`);
  }
  const bosToken = isObject(bos) ? bos.content : bos;
  return {
    bosToken: typeof bosToken === 'string' ? bosToken : undefined,
    addBosToken: typeof addBosToken === 'boolean' ? addBosToken : undefined,
    fimTemplate,
    maxLength: typeof maxLength === 'number' && maxLength > 0 ? maxLength : Number.POSITIVE_INFINITY,
  };
}

/** @returns undefined when there is no such file */
async function readJson(path: string): Promise<Json | undefined> {
  const bytes = await readRegular(path).catch((cause) => {
    if (cause instanceof SlipstreamError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new SlipstreamError('io', `${path} cannot be read (${code}).`, { cause });
  });
  return bytes && parseJsonObject(bytes, path);
}

type Corrupt = (what: string) => SlipstreamError;

function parseModel(model: unknown, path: string, corrupt: Corrupt): BpeModel {
  if (!isObject(model)) throw corrupt('"model" is missing');
  const { vocab, merges } = model;
  // Older files leave the type out; merges tell.
  const type = model.type ?? (Array.isArray(merges) ? 'BPE' : 'unknown');
  if (type !== 'BPE') {
    throw new SlipstreamError(
      'model.unsupported',
      `${path}: tokenizer type ${String(type)} is not supported; code models use BPE.`,
    );
  }
  if (!isObject(vocab) || Object.keys(vocab).length === 0) throw corrupt('"model.vocab" is missing or empty');
  if (!Array.isArray(merges)) throw corrupt('"model.merges" is missing');
  for (const [token, id] of Object.entries(vocab)) {
    if (!isTokenId(id)) throw corrupt(`the id of token ${JSON.stringify(token)} is not a whole number`);
  }
  if (!merges.every(isMerge)) throw corrupt('"model.merges" holds something else than pairs');
  return { ...model, type, vocab: vocab as Record<string, number>, merges };
}

const isTokenId = (id: unknown) => Number.isInteger(id) && (id as number) >= 0 && (id as number) < 2 ** 24;

const isMerge = (merge: unknown) =>
  typeof merge === 'string'
    ? merge.indexOf(' ') > 0
    : Array.isArray(merge) && merge.length === 2 && merge.every((part) => typeof part === 'string');

function parseAddedTokens(tokens: unknown, corrupt: Corrupt): AddedToken[] {
  if (tokens === undefined || tokens === null) return [];
  if (!Array.isArray(tokens)) throw corrupt('"added_tokens" is not a list');
  return tokens.map((token: unknown) => {
    if (
      !isObject(token) ||
      !isTokenId(token.id) ||
      typeof token.content !== 'string' ||
      token.content === ''
    ) {
      throw corrupt('"added_tokens" holds something else than tokens with id and content');
    }
    return { id: token.id as number, content: token.content, special: token.special === true };
  });
}

function parseStage(json: Json, key: string, corrupt: Corrupt): Stage | null {
  const stage = json[key] ?? null;
  if (stage !== null && (!isObject(stage) || typeof stage.type !== 'string')) {
    throw corrupt(`"${key}" has no type`);
  }
  return stage as Stage | null;
}
