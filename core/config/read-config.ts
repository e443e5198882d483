import { ConfigError } from '../errors.js';
import { parseSetting, type SettingText } from './parse-setting.js';
import { readConfigFile } from './read-config-file.js';
import {
  type HostConfig,
  SETTINGS,
  type SettingName,
  settingFlag,
  settingVariable,
} from './settings.js';

export { ConfigError } from '../errors.js';
export type { LogLevel } from '../log/logger.js';
export type { HostConfig } from './settings.js';

/** Where relative paths of flags, variables and defaults start. */
const WORKING_DIRECTORY = '.';

export interface ConfigInput {
  /** By camelCase name, only what was given: a text, or `true` for a flag without one. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: NodeJS.ProcessEnv;
}

export interface ReadConfig<Name extends SettingName> {
  readonly config: Readonly<Pick<HostConfig, Name>>;
  /** Where each value came from, for messages: `--port`, `MODGATE_PORT`, `port in config.yaml:3:1`. */
  readonly sources: Readonly<Record<Name, string>>;
}

/**
 * Reads the settings of a command: flag before variable before `--config FILE` before default. An empty
 * variable counts as absent.
 * @throws ConfigError at the first value that does not fit.
 */
export async function readConfig<Name extends SettingName>(
  names: readonly Name[],
  input: ConfigInput,
): Promise<ReadConfig<Name>> {
  const file = findFlag('config', input) ?? findVariable('config', input);
  const inFile = await readFile(file);
  const values: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  for (const name of names) {
    const given =
      findFlag(name, input) ?? findVariable(name, input) ?? inFile.get(name) ?? findDefault(name);
    values[name] = given === null ? null : parseSetting(name, given);
    sources[name] = given?.source ?? settingFlag(name);
  }
  // Each value was parsed by the kind of its own name.
  return { config: Object.freeze(values), sources } as unknown as ReadConfig<Name>;
}

async function readFile(file: SettingText | null): Promise<Map<SettingName, SettingText>> {
  if (file === null) return new Map();
  if (file.text === '') throw new ConfigError(`${file.source} must be the path of a file`);
  return readConfigFile(file.text);
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
  return text === null ? null : { text, source: settingFlag(name), directory: WORKING_DIRECTORY };
}
