import { existsSync } from 'node:fs';
import { ConfigError } from '../errors.js';
import type { HostConfig } from './host-config.js';
import { parseSetting, type SettingText } from './parse-setting.js';
import { readConfigFile } from './read-config-file.js';
import { SETTINGS, type SettingName, settingFlag, settingVariable } from './settings.js';

export { ConfigError } from '../errors.js';
export type { LogLevel } from '../log/logger.js';
export type { HostConfig } from './host-config.js';

/** Relative paths of flags, variables and defaults start here. */
const WORKING_DIRECTORY = '.';

/** Used without `--config`, if it is in the working directory. */
const DEFAULT_FILE = 'modgate.yaml';

interface ConfigInput {
  /** The given flags by camelCase name: a text, or `true` for a flag without one. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: NodeJS.ProcessEnv;
}

export interface ReadConfig<Name extends SettingName> {
  readonly config: Readonly<Pick<HostConfig, Name>>;
  /** The origin of each value, for messages: `--port`, `MODGATE_PORT`, `port in config.yaml:3:1`. */
  readonly sources: Readonly<Record<Name, string>>;
}

/**
 * Reads the settings of a command: flag before variable before configuration file before default. An
 * empty variable counts as absent.
 * @throws ConfigError at the first invalid value.
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
  // `unknown`, because each value has the type of its own setting.
  return { config: Object.freeze(values), sources } as unknown as ReadConfig<Name>;
}

async function readFile(file: SettingText | null): Promise<Map<SettingName, SettingText>> {
  if (file === null) return existsSync(DEFAULT_FILE) ? readConfigFile(DEFAULT_FILE) : new Map();
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
