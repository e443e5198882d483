import { parseRange } from '../lib/address-list.js';
import type { SettingKind } from './setting-kind.js';

const MAX_RANGES = 1000;

/** Addresses and ranges separated by commas; in a configuration file a list. */
export const addressRanges: SettingKind<readonly string[]> = {
  placeholder: 'ranges',
  expected:
    'addresses or ranges of addresses such as 10.0.0.0/8, separated by commas, in a file a list',
  fileType: 'string',
  parse: (text) => parseRanges(text.split(',')),
  parseValue: (value) => (Array.isArray(value) ? parseRanges(value) : undefined),
  explain: (text) =>
    text
      .split(',')
      .map(explainRange)
      .find((reason) => reason !== null) ?? null,
};

function parseRanges(list: readonly unknown[]): readonly string[] | undefined {
  if (list.length === 0 || list.length > MAX_RANGES) return undefined;
  const ranges = list.map((item) => (typeof item === 'string' ? item.trim() : ''));
  return ranges.every((text) => !('reason' in parseRange(text))) ? ranges : undefined;
}

/** Addresses are not secret, so the message may contain the corrected range. */
function explainRange(text: string): string | null {
  const range = parseRange(text.trim());
  if (!('reason' in range) || range.meant === null) return null;
  return `a range ${range.reason}: write ${range.meant}`;
}
