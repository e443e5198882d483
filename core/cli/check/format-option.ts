import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { choiceOption } from '../setting-options.js';

const FORMATS = ['text', 'json', 'sarif'] as const;

export type Format = (typeof FORMATS)[number];

export interface FormatOptions {
  readonly format?: Format;
  readonly json?: true;
}

export function addFormatOptions(command: Command): void {
  command
    .addOption(
      choiceOption('--format <format>', 'Print the report as text, json or sarif', FORMATS),
    )
    .option('--json', 'Same as --format json');
}

/** @throws ConfigError for two formats. */
export function readFormat({ format, json }: FormatOptions): Format {
  if (json !== true) return format ?? 'text';
  if (format === undefined || format === 'json') return 'json';
  throw new ConfigError(`--json cannot be used with --format ${format}`);
}
