import { dirname } from 'node:path';
import { describePath, isPrintableKey } from '../document/diagnostic.js';
import { readStructuredText, type StructuredText } from '../document/parse-document.js';
import { assertValidFile } from '../document/parse-file.js';
import { readFileText } from '../document/read-file.js';
import { suggestName } from '../document/suggest.js';
import { ConfigError } from '../errors.js';
import { parseSetting, type SettingText } from './parse-setting.js';
import { SETTING_NAMES, SETTINGS, type SettingName, settingKey } from './settings.js';

const NAME_BY_KEY = new Map(SETTING_NAMES.map((name) => [settingKey(name), name]));

/**
 * Reads a YAML file of settings, named as the flags without `--`. Relative paths start at its folder.
 * @throws ConfigError at the first error, also in a value that a flag overrides.
 */
export async function readConfigFile(file: string): Promise<Map<SettingName, SettingText>> {
  const document = await readDocument(file);
  const { value } = document;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`${file} must be a mapping of settings, such as 'port: 3000'`);
  }
  const given = new Map<SettingName, SettingText>();
  for (const [key, entry] of Object.entries(value)) {
    const place = `${file}:${formatPlace(document, key)}`;
    const name = NAME_BY_KEY.get(key);
    if (name === undefined) throw new ConfigError(`${place} ${describeUnknown(key)}`);
    const text = readEntry(name, entry, `${key} in ${place}`, dirname(file));
    parseSetting(name, text);
    given.set(name, text);
  }
  return given;
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
