import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { boolean, object } from 'superstruct';
import { type AnyStruct, optionally } from '../contract/described.js';
import { parseRange } from '../lib/address-list.js';
import { countCores } from '../lib/count-cores.js';
import { explainReservedHeader, isHeaderName } from '../lib/secrets/credential-header.js';
import { isOrigin } from '../lib/web-origin.js';

/** Parses the text of a setting from any source. */
export interface SettingKind<T> {
  /** The value in help: `--port <number>`; `null` for a flag without one. */
  readonly placeholder: string | null;
  /** Completes `--port must be …`. */
  readonly expected: string;
  /** The only values, which shells complete; absent for any. */
  readonly words?: readonly string[];
  /** The type that the value has in a configuration file. */
  readonly fileType: 'string' | 'number' | 'boolean' | 'number or string';
  /** Describes the problem of a text, if `expected` alone does not. */
  explain?(text: string): string | null;
  /** Returns `undefined` for an invalid text. Relative paths are resolved in `directory`. */
  parse(text: string, directory: string): T | undefined;
  /** Validates a mapping of a configuration file, for messages that name the wrong key. */
  readonly struct?: AnyStruct;
  /** Parses a list or a mapping of a configuration file; `undefined` for an invalid one. */
  parseValue?(value: unknown, directory: string): T | undefined;
}

export function path(placeholder: 'dir' | 'file'): SettingKind<string> {
  return {
    placeholder,
    expected: placeholder === 'dir' ? 'the path of a folder' : 'the path of a file',
    fileType: 'string',
    parse: (text, directory) =>
      text === '' || text.includes('\0') ? undefined : resolve(directory, text),
  };
}

/** The value for descriptors that are releases of the store instead of files of a folder. */
export const STORE_MODULES = 'store:';

/** The path of a folder, or `store:`. */
export const modulesSource: SettingKind<string> = {
  ...path('dir'),
  placeholder: 'dir',
  expected: 'the path of a folder, or store: for the releases of the store',
  parse: (text, directory) => (text === STORE_MODULES ? text : path('dir').parse(text, directory)),
};

const MAX_ITEMS = 1000;

/** Texts separated by commas; in a configuration file a list. */
function listOf(
  isItem: (text: string) => boolean,
  minItems: 0 | 1,
): Pick<SettingKind<readonly string[]>, 'fileType' | 'parse' | 'parseValue'> {
  const parseItems = (list: readonly unknown[]) => {
    if (list.length < minItems || list.length > MAX_ITEMS) return undefined;
    const items = list.map((item) => (typeof item === 'string' ? item.trim() : ''));
    return items.every(isItem) ? items : undefined;
  };
  return {
    fileType: 'string',
    parse: (text) => parseItems(text.split(',')),
    parseValue: (value) => (Array.isArray(value) ? parseItems(value) : undefined),
  };
}

/** A reference, or its beginning. */
const PATTERN = /^(?:env:[A-Za-z0-9_]*|(?:file|socket):\/[^\0*]*|command:[^\0*]*)\*?$/;

/** References that releases may use. */
export const referencePatterns: SettingKind<readonly string[]> = {
  placeholder: 'patterns',
  expected:
    'references such as env:CRM_TOKEN, file:/run/secrets/*, socket:/run/crm.sock or command:node, separated by commas, in a file a list',
  ...listOf((text) => PATTERN.test(text), 0),
};

/** Validated when the store opens; never printed, since it may hold a password. */
export const storeUrl: SettingKind<string> = {
  placeholder: 'url',
  expected: 'a URL such as postgres://user@host/database',
  fileType: 'string',
  parse: (text) => (/^postgres(?:ql)?:\/\//.test(text) ? text : undefined),
};

/** Never printed, since it may hold a password. */
export const redisUrl: SettingKind<string> = {
  placeholder: 'url',
  expected: 'a URL such as redis://host:6379, with the number of a database at most as its path',
  fileType: 'string',
  parse: (text) => (isRedisUrl(text) ? text : undefined),
};

function isRedisUrl(text: string): boolean {
  return (
    /^rediss?:\/\//.test(text) && URL.canParse(text) && /^\/?\d*$/.test(new URL(text).pathname)
  );
}

/** A name of letters, digits, `.`, `_` and `-`. */
export const plainName: SettingKind<string> = {
  placeholder: 'name',
  expected: 'a name of 1 to 64 letters, digits, ., _ and -',
  fileType: 'string',
  parse: (text) => (/^[A-Za-z0-9._-]{1,64}$/.test(text) ? text : undefined),
};

const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

export const address: SettingKind<string> = {
  placeholder: 'address',
  expected: 'an IP address without brackets, or a host name',
  fileType: 'string',
  parse: (text) => (isIP(text) !== 0 || HOST_NAME.test(text) ? text : undefined),
};

export function integer(min: number, max?: number): SettingKind<number> {
  return {
    placeholder: 'number',
    expected: `a whole number from ${min}${max === undefined ? '' : ` to ${max}`}`,
    fileType: 'number',
    parse: (text) => {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER) ? value : undefined;
    },
  };
}

const UNIT_BYTES = new Map([
  ['', 1],
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
]);

/** A number of bytes, or with a unit: `128MiB`. */
export function bytes(min: number): SettingKind<number> {
  const { parse } = integer(min);
  return {
    placeholder: 'bytes',
    expected: `a number of bytes from ${min}, or with a unit such as 128MiB`,
    fileType: 'number or string',
    parse: (text, directory) => {
      const [, digits, unit = ''] = /^(\d+)([KMG]iB)?$/.exec(text) ?? [];
      if (digits === undefined) return undefined;
      return parse(String(Number(digits) * (UNIT_BYTES.get(unit) ?? Number.NaN)), directory);
    },
  };
}

/** `auto` is one per core that the process may use, which a quota of a container limits. */
export function workerCount(max: number): SettingKind<number> {
  const { parse } = integer(1, max);
  return {
    placeholder: 'number|auto',
    expected: `a whole number from 1 to ${max}, or auto`,
    fileType: 'number or string',
    parse: (text, directory) =>
      text === 'auto' ? Math.min(max, countCores()) : parse(text, directory),
  };
}

/** A number as `0.05` or `5e-2`. */
function decimal(placeholder: string, max: number): SettingKind<number> {
  return {
    placeholder,
    expected: `a number from 0 to ${max}`,
    fileType: 'number',
    parse: (text) => {
      const isDecimal = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e-?\d+)?$/i.test(text);
      const value = isDecimal ? Number(text) : Number.NaN;
      return value >= 0 && value <= max ? value : undefined;
    },
  };
}

export const share: SettingKind<number> = decimal('share', 1);

/** A rate per second. */
export const rate: SettingKind<number> = decimal('number', 1_000_000);

export function choice<const T extends string>(
  placeholder: string,
  words: readonly T[],
): SettingKind<T> {
  return {
    placeholder,
    words,
    expected: `one of ${words.join(', ')}`,
    fileType: 'string',
    parse: (text) => words.find((word) => word === text),
  };
}

const SWITCH_WORDS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** A flag without a value is `true`; a variable is `true`, `false`, `1` or `0`. */
export const onOff: SettingKind<boolean> = {
  placeholder: null,
  expected: 'true or false',
  fileType: 'boolean',
  parse: (text) => SWITCH_WORDS.get(text),
};

export const origin: SettingKind<string> = {
  placeholder: 'origin',
  expected: 'an origin such as https://gateway.example, without a path',
  fileType: 'string',
  parse: (text) => (isOrigin(text) ? text : undefined),
};

/** Headers with another syntax: credentials with a scheme, and cookies. */
const OTHER_FORM: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
]);

export const tokenHeader: SettingKind<string> = {
  placeholder: 'name',
  expected: 'the name of a separate header, such as x-api-key',
  fileType: 'string',
  parse: (text) => {
    const name = text.toLowerCase();
    const isUsable = isHeaderName(name) && explainReservedHeader(name) === null;
    return isUsable && !OTHER_FORM.has(name) ? name : undefined;
  },
};

export const addressRanges: SettingKind<readonly string[]> = {
  placeholder: 'ranges',
  expected:
    'addresses or ranges of addresses such as 10.0.0.0/8, separated by commas, in a file a list',
  ...listOf((text) => !('reason' in parseRange(text)), 1),
  explain: (text) =>
    text
      .split(',')
      .map(explainRange)
      .find((reason) => reason !== null) ?? null,
};

/** Addresses are not secret, so the message may contain the corrected range. */
function explainRange(text: string): string | null {
  const range = parseRange(text.trim());
  if (!('reason' in range) || range.meant === null) return null;
  return `a range ${range.reason}: write ${range.meant}`;
}

/** The rules of who may decide about requests for approval. */
export interface ApprovalRules {
  /** Whether users may decide about their own requests. */
  readonly self: boolean;
}

const approvalMapping = object({ self: optionally(boolean(), {}) });

/** The word `self`; in a configuration file a mapping. */
export const approvalRules: SettingKind<ApprovalRules> = {
  placeholder: 'rules',
  expected: 'self, or in a file a mapping such as {self: true}',
  fileType: 'string',
  struct: approvalMapping,
  parse: (text) => (text === 'self' ? { self: true } : undefined),
  parseValue: (value) => (approvalMapping.is(value) ? { self: value.self ?? false } : undefined),
};
