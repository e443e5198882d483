import { ConfigError } from '../errors.js';
import { SETTINGS, type SettingName } from './settings.js';

/** The text of a setting and where it was found. */
export interface SettingText {
  readonly text: string;
  /** For messages: `--port`, `MODGATE_PORT`, `port in config.yaml:3:1`. */
  readonly source: string;
  /** Where relative paths start. */
  readonly directory: string;
  /** What a configuration file has instead of a text, for the kinds that take it. */
  readonly value?: unknown;
}

/** @throws ConfigError that names the source and what was expected, never the text. */
export function parseSetting(name: SettingName, given: SettingText): unknown {
  const { kind } = SETTINGS[name];
  const value =
    given.value === undefined
      ? kind.parse(given.text, given.directory)
      : kind.parseValue?.(given.value, given.directory);
  if (value !== undefined) return value;
  throw new ConfigError(`${given.source} must be ${kind.expected}${explainText(given.text)}`);
}

/** Kubernetes sets `MODGATE_PORT=tcp://…` in every pod beside a service that is named modgate. */
function explainText(text: string): string {
  return text.startsWith('tcp://')
    ? ' (kubernetes sets this variable for a service of that name: turn enableServiceLinks off)'
    : '';
}
