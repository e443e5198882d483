import type { AnyStruct } from '../contract/described.js';
import { validateStruct } from '../document/validate.js';
import { ConfigError } from '../errors.js';
import { isMapping } from '../lib/read-member.js';
import type { SettingKind } from './setting-kind.js';
import { SETTINGS, type SettingName } from './settings.js';

export interface SettingText {
  readonly text: string;
  /** The source for messages: `--port`, `MODGATE_PORT`, `port in config.yaml:3:1`. */
  readonly source: string;
  /** Relative paths start here. */
  readonly directory: string;
  /** A list or a mapping from a configuration file, for the kinds that accept one. */
  readonly value?: unknown;
}

/** @throws ConfigError with the source and the expected value, but without the text. */
export function parseSetting(name: SettingName, setting: SettingText): unknown {
  const { kind } = SETTINGS[name];
  if (kind.struct !== undefined && isMapping(setting.value)) assertMapping(kind.struct, setting);
  const value =
    setting.value === undefined
      ? kind.parse(setting.text, setting.directory)
      : kind.parseValue?.(setting.value, setting.directory);
  if (value !== undefined) return value;
  throw new ConfigError(
    `${setting.source} must be ${kind.expected}${explainInvalid(kind, setting)}`,
  );
}

function assertMapping(struct: AnyStruct, { value, source }: SettingText): void {
  const [violation] = validateStruct(value, struct).violations;
  if (violation === undefined) return;
  const hint = violation.hint === null ? '' : ` (${violation.hint})`;
  throw new ConfigError(`${source}: ${violation.message}${hint}`);
}

function explainInvalid({ explain }: SettingKind<unknown>, { text, value }: SettingText): string {
  const written = Array.isArray(value) ? value.join(',') : text;
  const reason = explain?.(written) ?? null;
  return reason === null ? explainText(text) : ` (${reason})`;
}

/** Kubernetes sets `MODGATE_PORT=tcp://…` in every pod if a service is named modgate. */
function explainText(text: string): string {
  return text.startsWith('tcp://')
    ? ' (kubernetes sets this variable for a service of that name: turn enableServiceLinks off)'
    : '';
}
