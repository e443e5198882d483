import { expect } from 'chai';
import { type Diagnostic, InvalidFile } from '../../../core/document/diagnostic.js';

/** The findings of the InvalidFile that `work` must end in. */
export async function findingsOf(work: () => unknown): Promise<readonly Diagnostic[]> {
  try {
    await work();
  } catch (error) {
    if (error instanceof InvalidFile) return error.diagnostics;
    throw error;
  }
  return expect.fail('nothing was refused');
}

/** A finding as the corpus writes it down. */
export function summarise({ rule, line, column, message, hint }: Diagnostic) {
  return { rule, line, column, message, ...(hint !== null && { hint }) };
}
