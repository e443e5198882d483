import { expect } from 'chai';
import { isProviderFailure, type ProviderFailure } from '../../core/contract/index.js';

/** The failure of a call that must not succeed. */
export async function failureOf(call: Promise<unknown>): Promise<ProviderFailure> {
  try {
    await call;
  } catch (error) {
    if (isProviderFailure(error)) return error;
    throw error;
  }
  return expect.fail('expected a failure, got an answer');
}
