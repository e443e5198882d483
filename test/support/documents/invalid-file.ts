import { expect } from 'chai';
import { type Finding, InvalidFile } from '../../../core/document/diagnostic.js';

/** The findings of the InvalidFile that `work` must end in. */
export async function findingsOf(work: () => unknown): Promise<readonly Finding[]> {
  try {
    await work();
  } catch (error) {
    if (error instanceof InvalidFile) return error.findings;
    throw error;
  }
  return expect.fail('nothing was refused');
}

/** A finding as the corpus writes it down. */
export function summarise({ rule, line, column, message, hint }: Finding) {
  return { rule, line, column, message, ...(hint !== null && { hint }) };
}
