import { InvalidFile } from '../../document/diagnostic.js';
import { readStructuredText } from '../../document/parse-document.js';
import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { maskUrlPasswords } from '../../lib/secrets/mask-secrets.js';
import { readDescriptorText } from '../../modules/module-documents.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { authorize } from '../authorization.js';
import { MODULES_FOLDER } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import type { ModuleRecords } from './module-overview.js';

/**
 * Handles `GET /descriptors?module=`: returns the current file of a module, which has references to
 * secrets. It hides the default of a sensitive field of an inline manifest, and passwords in URLs,
 * for which the file is rejected.
 */
@injectable(ModuleRegistry, MODULES_FOLDER)
export class ReadDescriptor implements Handler<string> {
  readonly #records: ModuleRecords;
  readonly #folder: string;

  constructor(records: ModuleRecords, folder: string) {
    this.#records = records;
    this.#folder = folder;
  }

  async execute(module: string, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.modules.read',
    });
    const candidates = this.#records.list().filter(({ name }) => name === module);
    // Of several files with one name, the one that is served.
    const record = candidates.find(({ live }) => live !== null) ?? candidates[0];
    const text = record === undefined ? null : await readDescriptorText(this.#folder, record.file);
    if (record === undefined || text === null) {
      throw new HostError('not_found', 'no descriptor has this name', {
        errors: [{ field: 'module', reason: 'not found' }],
        nextActions: ['see GET /modules for the names'],
      });
    }
    return Reply.json(authorization, {
      name: module,
      file: record.file,
      text: maskUrlPasswords(hideDefaultsInText(record.file, text)),
    });
  }
}

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
