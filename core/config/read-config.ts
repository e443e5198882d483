import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describePath, isPrintableKey } from '../document/diagnostic.js';
import { readStructuredText, type StructuredText } from '../document/parse-document.js';
import { assertValidFile } from '../document/parse-file.js';
import { readFileText } from '../document/read-file.js';
import { suggestName } from '../document/suggest.js';
import { ConfigError } from '../errors.js';
import { type Attempt, attemptOrThrow } from '../lib/attempt.js';
import { isMapping } from '../lib/read-member.js';
import { parseSetting, type SettingText } from './parse-setting.js';
import {
  type HostConfig,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  settingFlag,
  settingKey,
  settingVariable,
} from './settings.js';

const NAME_BY_KEY = new Map(SETTING_NAMES.map((name) => [settingKey(name), name]));

export { ConfigError } from '../errors.js';
export type { LogLevel } from '../log/logger.js';
export type { HostConfig } from './settings.js';

/** Relative paths of flags, variables and defaults start here. */
const WORKING_DIRECTORY = '.';

/** Used without `--config`, if it is in the working directory. */
const DEFAULT_FILE = 'modgate.yaml';

interface ConfigInput {
  /** The flags of the command line by camelCase name: a text, or `true` for a flag without one. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: NodeJS.ProcessEnv;
}

export interface ReadConfig<Name extends SettingName> {
  readonly config: Readonly<Pick<HostConfig, Name>>;
  /** The origin of each value, for messages: `--port`, `MODGATE_PORT`, `port in config.yaml:3:1`. */
  readonly sources: Readonly<Record<Name, string>>;
}

/**
 * Reads the settings of a command. Flags override variables, which override the configuration file,
 * which overrides defaults. An empty variable counts as absent.
 * @param attempt receives each invalid value, and the default is used; without it the first invalid
 * value throws
 * @throws ConfigError
 */
export async function readConfig<Name extends SettingName>(
  names: readonly Name[],
  input: ConfigInput,
  attempt: Attempt = attemptOrThrow,
): Promise<ReadConfig<Name>> {
  const file = findFlag('config', input) ?? findVariable('config', input);
  const inFile = (await attempt(() => readFile(file, attempt))) ?? new Map();
  const values: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const name of names) {
    const setting =
      findFlag(name, input) ?? findVariable(name, input) ?? inFile.get(name) ?? findDefault(name);
    values[name] = await attempt(() => readValue(name, setting));
    values[name] ??= readValue(name, findDefault(name));
    sources[name] = setting?.source ?? settingFlag(name);
  }
  // `unknown`, because each value has the type of its own setting.
  return { config: Object.freeze(values), sources } as unknown as ReadConfig<Name>;
}

function readValue(name: SettingName, text: SettingText | null): unknown {
  if (text === null) return null;
  if (text.source === settingVariable(name)) assertUnwrapped(text);
  return parseSetting(name, text);
}

/** What some readers of environment files keep: quotes, and the ends of lines that Windows writes. */
const WRAPPED = /^\s|\s$|^(["']).*\1$/s;

/** @throws ConfigError, since a path with such characters would be another folder. */
function assertUnwrapped({ text, source }: SettingText): void {
  if (!WRAPPED.test(text)) return;
  const expected = 'must be without quotes around it, and without a blank or line break at an end';
  throw new ConfigError(`${source} ${expected}: correct the file or command that sets it`);
}

async function readFile(
  file: SettingText | null,
  attempt: Attempt,
): Promise<Map<SettingName, SettingText>> {
  if (file === null) {
    return existsSync(DEFAULT_FILE) ? readConfigFile(DEFAULT_FILE, attempt) : new Map();
  }
  if (file.text === '') throw new ConfigError(`${file.source} must be the path of a file`);
  return readConfigFile(file.text, attempt);
}

function findFlag(name: string, input: ConfigInput): SettingText | null {
  const value = input.flags[name];
  if (value === undefined) return null;
  return { text: String(value), source: settingFlag(name), directory: WORKING_DIRECTORY };
}

function findVariable(name: string, input: ConfigInput): SettingText | null {
  const source = settingVariable(name);
  const text = input.environment[source];
  return text === undefined || text === '' ? null : { text, source, directory: WORKING_DIRECTORY };
}

function findDefault(name: SettingName): SettingText | null {
  const text = SETTINGS[name].default;
  return text === undefined
    ? null
    : { text, source: settingFlag(name), directory: WORKING_DIRECTORY };
}

/**
 * Reads a YAML file of settings, named as the flags without `--`. Relative paths start at its folder.
 * @throws ConfigError also for an error in a value that a flag overrides.
 */
export async function readConfigFile(
  file: string,
  attempt: Attempt = attemptOrThrow,
): Promise<Map<SettingName, SettingText>> {
  const document = await readDocument(file);
  const { value } = document;
  if (!isMapping(value)) {
    throw new ConfigError(`${file} must be a mapping of settings, such as 'port: 3000'`);
  }
  const texts = new Map<SettingName, SettingText>();
  for (const [key, entry] of Object.entries(value)) {
    const place = `${file}:${formatPlace(document, key)}`;
    await attempt(() => {
      const name = NAME_BY_KEY.get(key);
      if (name === undefined) throw new ConfigError(`${place} ${describeUnknown(key)}`);
      const text = readEntry(name, entry, `${key} in ${place}`, dirname(file));
      parseSetting(name, text);
      texts.set(name, text);
    });
  }
  return texts;
}

async function readDocument(file: string): Promise<StructuredText> {
  try {
    return readStructuredText(file, await readFileText(file));
  } catch (error) {
    throw assertValidFile(error);
  }
}

function formatPlace(document: StructuredText, key: string): string {
  const { line, column } = document.locate([key], 'key');
  return `${line}:${column}`;
}

function describeUnknown(key: string): string {
  const name = isPrintableKey(key) ? `unknown key ${describePath([key])}` : 'unknown key';
  return `${name} (${suggestName(key, [...NAME_BY_KEY.keys()])})`;
}

function readEntry(
  name: SettingName,
  value: unknown,
  source: string,
  directory: string,
): SettingText {
  const { fileType, expected, parseValue } = SETTINGS[name].kind;
  if (parseValue !== undefined && typeof value === 'object') {
    return { text: '', source, directory, value };
  }
  if (!fileType.split(' or ').includes(typeof value)) {
    throw new ConfigError(`${source} must be ${expected}, written as a ${fileType}`);
  }
  return { text: String(value), source, directory };
}
