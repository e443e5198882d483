import { InvalidFile } from '../../document/diagnostic.js';
import { readStructuredText } from '../../document/parse-document.js';
import { HostError } from '../../errors.js';
import { maskUrlPasswords } from '../../lib/secrets/mask-secrets.js';
import { readDescriptorText } from '../../modules/module-documents.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { MODULES_FOLDER } from '../injection-tokens.js';
import { moduleParameter } from '../query.js';
import { defineResource } from '../resource.js';

/**
 * Returns the current file of a module, which has references to secrets. It hides the default of a
 * sensitive field of an inline manifest, and passwords in URLs, for which the file is rejected.
 */
export const DESCRIPTORS = defineResource({
  text: '`{name, file, text}`: the file of the descriptor as it is now; if an inline manifest has a default of a sensitive field, as JSON without that default; a file that mentions `sensitive` and cannot be parsed is not shown; 404 if no descriptor has the name',
  query: { module: { ...moduleParameter, isRequired: true } },
  needs: [ModuleRegistry, MODULES_FOLDER],
  answer: async ({ query: { module } }, records, folder) => {
    const named = records.list().filter(({ name }) => name === module);
    // Of several files with one name, the one that is served.
    const record = named.find(({ live }) => live !== null) ?? named[0];
    const text = record === undefined ? null : await readDescriptorText(folder, record.file);
    if (record === undefined || text === null) {
      throw new HostError('not_found', 'no descriptor has this name', {
        errors: [{ field: 'module', reason: 'not found' }],
        nextActions: ['see GET /modules for the names'],
      });
    }
    const visibleText = maskUrlPasswords(hideDefaultsInText(record.file, text));
    return { name: module, file: record.file, text: visibleText };
  },
});

const UNREADABLE =
  '# The text is not shown: it cannot be parsed and may hold the default of a sensitive field.\n';

/** @returns the text itself, or JSON without sensitive defaults and comments */
function hideDefaultsInText(file: string, text: string): string {
  let document: unknown;
  try {
    document = readStructuredText(file, text).value;
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return text.includes('sensitive') ? UNREADABLE : text;
  }
  let isHidden = false;
  const visibleText = JSON.stringify(
    document,
    (_name, value: unknown) => {
      if (typeof value === 'string') {
        const masked = maskUrlPasswords(value);
        // Escapes in the file could hide it from a search in the text.
        isHidden ||= masked !== value;
        return masked;
      }
      if (typeof value !== 'object' || value === null || !('default' in value)) return value;
      // The file may be invalid: any value except `false` counts.
      if (!('sensitive' in value) || value.sensitive === false) return value;
      isHidden = true;
      const { default: _secret, ...rest } = value;
      return rest;
    },
    2,
  );
  return isHidden ? visibleText : text;
}
