import { expect } from 'chai';
import { type Diagnostic, InvalidFile } from '../../../core/document/diagnostic.js';

/** The diagnostics of the InvalidFile that `work` must throw. */
export async function diagnosticsOf(work: () => unknown): Promise<readonly Diagnostic[]> {
  try {
    await work();
  } catch (error) {
    if (error instanceof InvalidFile) return error.diagnostics;
    throw error;
  }
  return expect.fail('nothing was rejected');
}

/** A diagnostic in the form of the corpus. */
export function summarize({ rule, line, column, message, hint }: Diagnostic) {
  return { rule, line, column, message, ...(hint !== null && { hint }) };
}
