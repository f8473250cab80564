import {
  algorithms,
  defaultMaxTokens,
  devices,
  type EngineSettings,
  medusaTrees,
  type SpeculationSettings,
  speculationProblem,
} from '../engine/protocol.ts';

export interface Settings {
  /** By language id; `*` stands for every language that is not named. */
  readonly enable: Readonly<Record<string, boolean>>;
  /** How many suggestions to cycle through, the most probable one included. */
  readonly suggestions: number;
  readonly engine: EngineSettings;
}

export interface ReadSettings {
  readonly settings: Settings;
  /** One sentence each for the user: what is wrong and what is used instead. */
  readonly problems: readonly string[];
}

export const defaultSettings: Settings = {
  enable: { '*': true },
  suggestions: 3,
  engine: { algorithm: 'auto', device: 'auto', maxTokens: defaultMaxTokens },
};

/** The limits that package.json states too. */
export const limits = {
  suggestions: 5,
  numDraftTokens: 64,
  numSteps: 16,
  eagleTopk: 16,
  maxTokens: 1024,
  promptTokens: 16384,
} as const;

/**
 * @param get the value of a setting below `slipstream.`, undefined or null when it is not set
 * @param findModelFolder the absolute path of a folder with a checkpoint, undefined when there is none
 */
export function readSettings(
  get: (key: string) => unknown,
  findModelFolder: (path: string) => string | undefined,
): ReadSettings {
  const reader = new SettingReader(get, findModelFolder);
  const engine = readEngineSettings(reader);
  const enable = readEnable(reader);
  const suggestions = reader.count('suggestions', defaultSettings.suggestions, limits.suggestions);
  return { settings: { enable, suggestions, engine }, problems: reader.problems };
}

function readEngineSettings(reader: SettingReader): EngineSettings {
  const { device, maxTokens } = defaultSettings.engine;
  const speculation = readSpeculation(reader);
  const model = reader.optionalFolder('model');
  const promptTokens = reader.optionalInteger('promptTokens', limits.promptTokens);
  return {
    ...speculation,
    device: reader.oneOf('device', device, devices),
    maxTokens: reader.count('maxTokens', maxTokens, limits.maxTokens),
    ...(model && { model }),
    ...(promptTokens !== undefined && { promptTokens }),
  };
}

function readSpeculation(reader: SettingReader): SpeculationSettings {
  const algorithm = reader.oneOf('speculative.algorithm', defaultSettings.engine.algorithm, algorithms);
  const numSteps = reader.optionalInteger('speculative.numSteps', limits.numSteps);
  const eagleTopk = reader.optionalInteger('speculative.eagleTopk', limits.eagleTopk);
  const numDraftTokens = reader.optionalInteger('speculative.numDraftTokens', limits.numDraftTokens);
  const medusaTree = reader.oneOf('speculative.medusaTree', 'dynamic', ['dynamic', ...medusaTrees]);
  const draftModel = reader.optionalFolder('speculative.draftModel');
  const speculation: SpeculationSettings = {
    algorithm,
    ...(numSteps !== undefined && { numSteps }),
    ...(eagleTopk !== undefined && { eagleTopk }),
    ...(numDraftTokens !== undefined && { numDraftTokens }),
    ...(medusaTree !== 'dynamic' && { medusaTree }),
    ...(draftModel && { draftModel }),
  };
  const problem = speculationProblem(speculation);
  if (!problem) return speculation;
  reader.problems.push(`slipstream.speculative: ${problem} Only the algorithm is used.`);
  return { algorithm };
}

function readEnable(reader: SettingReader): Record<string, boolean> {
  const enabled = reader.read<object>(
    'enable',
    defaultSettings.enable,
    'an object such as {"*": true, "markdown": false}',
    (value) => (isPlainObject(value) ? value : undefined),
  );
  for (const [language, on] of Object.entries(enabled)) {
    if (typeof on === 'boolean') continue;
    reader.problems.push(
      `slipstream.enable says ${JSON.stringify(on)} for ${language} but has to say true or false; it is ignored.`,
    );
  }
  return languages(enabled);
}

/** Reads one setting after the other and collects what is wrong with them. */
class SettingReader {
  readonly problems: string[] = [];
  readonly #get: (key: string) => unknown;
  readonly #findModelFolder: (path: string) => string | undefined;

  constructor(get: (key: string) => unknown, findModelFolder: (path: string) => string | undefined) {
    this.#get = get;
    this.#findModelFolder = findModelFolder;
  }

  /** @param parse undefined: not what was expected */
  read<T>(key: string, fallback: T, expected: string, parse: (value: unknown) => T | undefined): T {
    const value = this.#get(key) ?? undefined;
    if (value === undefined) return fallback;
    const parsed = parse(value);
    if (parsed !== undefined) return parsed;
    const used = fallback === undefined ? 'it is ignored' : `${JSON.stringify(fallback)} is used`;
    this.problems.push(`slipstream.${key} is ${JSON.stringify(value)} but has to be ${expected}; ${used}.`);
    return fallback;
  }

  oneOf<T extends string>(key: string, fallback: T, choices: readonly T[]): T {
    return this.read(key, fallback, `one of ${choices.join(', ')}`, (value) =>
      choices.find((choice) => choice === value),
    );
  }

  count(key: string, fallback: number, max: number): number {
    return this.read(key, fallback, `a whole number from 1 to ${max}`, (value) => integer(value, max));
  }

  optionalInteger(key: string, max: number): number | undefined {
    return this.read<number | undefined>(key, undefined, `a whole number from 1 to ${max}`, (value) =>
      integer(value, max),
    );
  }

  /** @returns '' for an empty one */
  optionalFolder(key: string): string | undefined {
    const expected = 'the full path of a folder with a config.json';
    return this.read<string | undefined>(key, undefined, expected, (value) =>
      value === '' ? '' : typeof value === 'string' ? this.#findModelFolder(value) : undefined,
    );
  }
}

export function isEnabledFor({ enable }: Settings, languageId: string): boolean {
  // A language may bear the name of something that every object has.
  return (Object.hasOwn(enable, languageId) ? enable[languageId] : enable['*']) ?? true;
}

/** `slipstream.enable` by where it is set: in the place that is changed, and in all others together. */
export interface EnableScopes {
  readonly own: Readonly<Record<string, boolean>>;
  readonly elsewhere: Readonly<Record<string, boolean>>;
}

/**
 * What to set so that everything is on, or off. VS Code merges the scopes, so a language that is on by name elsewhere
 * is switched off by name too. Languages switched off by name otherwise stay off.
 */
export function allEnabled(on: boolean, { own, elsewhere }: EnableScopes): Record<string, boolean> {
  const named = (values: Readonly<Record<string, boolean>>) =>
    Object.entries(values).filter(([name]) => name !== '*');
  const isOnElsewhere = (name: string) => Object.hasOwn(elsewhere, name) && elsewhere[name] === true;
  const off = named(own).filter(([name, isOn]) => !isOn && !isOnElsewhere(name));
  const onElsewhere = on ? [] : named(elsewhere).filter(([, isOn]) => isOn);
  return {
    '*': on,
    ...Object.fromEntries(off),
    ...Object.fromEntries(onElsewhere.map(([name]) => [name, false])),
  };
}

export function isEnabledAnywhere({ enable }: Settings): boolean {
  return (enable['*'] ?? true) || Object.values(enable).includes(true);
}

function integer(value: unknown, max: number): number | undefined {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max
    ? (value as number)
    : undefined;
}

/** What a value of `slipstream.enable` says of languages, less what it may not say. */
export function languages(value: unknown): Record<string, boolean> {
  if (!isPlainObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'),
  );
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
