import { SlipstreamError } from '../errors.ts';
import type { Tokenizer } from '../model/tokenizer.ts';
import { parseHoleTemplate, parseTemplate, type TemplatePart } from './promptTemplate.ts';

/** How a model wants a document with a hole, and other files before it. */
export interface FimFormat {
  readonly name: string;
  /** The document, without and with its path. */
  readonly hole: readonly TemplatePart[];
  readonly namedHole: readonly TemplatePart[];
  /** Another file of the workspace; absent: this model reads one file. */
  readonly contextFile?: readonly TemplatePart[];
  readonly repo?: readonly TemplatePart[];
}

interface KnownFormat {
  readonly name: string;
  readonly hole: string;
  /** Comes before `hole` when the path is known; StarCoder2 has it inside, so it gives the whole. */
  readonly header?: string;
  readonly namedHole?: string;
  readonly contextFile?: string;
  readonly repo?: string;
}

/**
 * The formats that the model cards and papers give. Chosen by the tokens that a tokenizer has: the first one
 * whose control tokens are all there.
 */
const knownFormats: readonly KnownFormat[] = [
  {
    name: 'codegemma',
    hole: '<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>',
    header: '{path}\n',
    contextFile: '{path}\n{code}<|file_separator|>',
  },
  {
    name: 'qwen2.5-coder',
    hole: '<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>',
    header: '<|file_sep|>{path}\n',
    contextFile: '<|file_sep|>{path}\n{code}\n',
    repo: '<|repo_name|>{repo}\n',
  },
  {
    name: 'starcoder2',
    hole: '<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>',
    namedHole: '<file_sep><fim_prefix>{path}\n{prefix}<fim_suffix>{suffix}<fim_middle>',
    contextFile: '<file_sep>{path}\n{code}\n',
    repo: '<repo_name>{repo}',
  },
  {
    name: 'deepseek-coder',
    hole: '<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>',
    header: '#{path}\n',
    contextFile: '#{path}\n{code}\n',
  },
  { name: 'codellama', hole: '▁<PRE>{prefix}▁<SUF>{suffix}▁<MID>' },
  { name: 'codestral', hole: '[SUFFIX]{suffix}[PREFIX]{prefix}' },
  { name: 'seed-coder', hole: '<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>' },
];

const plainFormat: KnownFormat = { name: 'prefix only', hole: '{prefix}' };

const controlTokens = /<[^<>{}\n]*>|▁<[A-Z]+>|\[[A-Z]+\]/gu;

/**
 * The model folder's `fim_template` wins, then what the tokenizer's tokens say. A model without such tokens gets the
 * prefix alone.
 * @throws SlipstreamError model.corrupt for a template without {prefix}, or with special tokens that the tokenizer lacks
 */
export function chooseFimFormat(tokenizer: Tokenizer): FimFormat {
  if (tokenizer.fimTemplate !== undefined) return customFormat(tokenizer.fimTemplate, tokenizer);
  const known = knownFormats.find((format) => isKnownTo(tokenizer, format));
  return parseFormat(known ?? plainFormat, tokenizer);
}

/** Codestral's and CodeLlama's models share no control token with the rest, so all tokens have to be there. */
function isKnownTo(tokenizer: Tokenizer, format: KnownFormat): boolean {
  const templates = [format.hole, format.namedHole, format.contextFile, format.header].join('');
  return controlTokensOf(templates).every((name) => tokenizer.specialTokenId(name) !== undefined);
}

function controlTokensOf(template: string): readonly string[] {
  return template.replaceAll(/\{\w+\}/gu, ' ').match(controlTokens) ?? [];
}

function parseFormat(format: KnownFormat, tokenizer: Tokenizer): FimFormat {
  const parse = (template: string) => parseTemplate(template, tokenizer);
  return {
    name: format.name,
    hole: parse(format.hole),
    namedHole: parse(format.namedHole ?? (format.header ?? '') + format.hole),
    ...(format.contextFile !== undefined && { contextFile: parse(format.contextFile) }),
    ...(format.repo !== undefined && { repo: parse(format.repo) }),
  };
}

/**
 * A template says nothing about other files, so these follow the tokenizer's file separator. The repository's
 * name is left out: a model may have the token without ever having seen it used (tiny-coder).
 */
function customFormat(template: string, tokenizer: Tokenizer): FimFormat {
  const name = 'model folder';
  const separator = ['<|file_sep|>', '<file_sep>'].find((token) => tokenizer.specialTokens.has(token));
  const unknown = controlTokensOf(template).find((token) => tokenizer.specialTokenId(token) === undefined);
  if (unknown !== undefined) {
    throw new SlipstreamError(
      'model.corrupt',
      `The fill-in-the-middle template holds ${unknown}, which is no special token of this model.`,
    );
  }
  const hole = parseHoleTemplate(template, tokenizer);
  if (separator === undefined) return { name, hole, namedHole: hole };
  const header = template.includes('{path}') ? [] : parseTemplate(`${separator}{path}\n`, tokenizer);
  return {
    name,
    hole,
    namedHole: [...header, ...hole],
    contextFile: parseTemplate(`${separator}{path}\n{code}\n`, tokenizer),
  };
}
