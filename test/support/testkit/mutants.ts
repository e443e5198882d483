import type { ProviderAdapter } from '../../../core/contract/index.js';
import { ANSWER_MUTANTS } from './mutants/answer-mutants.js';
import { ENDPOINT_MUTANTS } from './mutants/endpoint-mutants.js';
import { FAILURE_MUTANTS } from './mutants/failure-mutants.js';
import { changeProvider, type Mutant } from './mutants/mutant.js';
import { OPENING_MUTANTS } from './mutants/opening-mutants.js';
import { PHASE_MUTANTS } from './mutants/phase-mutants.js';
import { RAW_MODE_MUTANTS } from './mutants/raw-mode-mutants.js';
import { REPORT_MUTANTS } from './mutants/report-mutants.js';
import { REQUEST_MUTANTS } from './mutants/request-mutants.js';
import { STREAM_MUTANTS } from './mutants/stream-mutants.js';
import { STREAMED_REQUEST_MUTANTS } from './mutants/streamed-request-mutants.js';
import { UPGRADE_MUTANTS } from './mutants/upgrade-mutants.js';

export const MUTANTS: readonly Mutant[] = [
  ...OPENING_MUTANTS,
  ...ENDPOINT_MUTANTS,
  ...REQUEST_MUTANTS,
  ...ANSWER_MUTANTS,
  ...RAW_MODE_MUTANTS,
  ...STREAM_MUTANTS,
  ...STREAMED_REQUEST_MUTANTS,
  ...PHASE_MUTANTS,
  ...REPORT_MUTANTS,
  ...UPGRADE_MUTANTS,
  ...FAILURE_MUTANTS,
];

/** Not a mutant: some responses are slow, like those after a delayed acknowledgment of TCP. */
export function respondSlowly(path: string, ms: number): ProviderAdapter {
  return changeProvider((good) => ({
    invoke: async (invocation) => {
      const outcome = await good.invoke(invocation);
      const { operation } = invocation;
      const isSlow = operation.kind === 'http_route' && operation.target === path;
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, ms));
      return outcome;
    },
  }));
}

/** Not a mutant: delays each call for which there is no idle connection. */
export function openConnectionsSlowly(ms: number): ProviderAdapter {
  return changeProvider((good) => {
    let inFlight = 0;
    return {
      invoke: async (invocation) => {
        inFlight += 1;
        if (inFlight > 1) await new Promise((resolve) => setTimeout(resolve, ms));
        return good.invoke(invocation).finally(() => {
          inFlight -= 1;
        });
      },
    };
  });
}
