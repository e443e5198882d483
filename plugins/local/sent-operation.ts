import type { Transferable } from 'node:worker_threads';
import type { ProviderOperation } from '../../core/contract/index.js';
import { receiveBytes, sendBytes } from './sent-bytes.js';
import type { SentOperation } from './thread-messages.js';

export function sendOperation(
  operation: ProviderOperation,
  transfers: Transferable[],
): SentOperation {
  switch (operation.kind) {
    case 'http_route': {
      const { body } = operation;
      return body === null
        ? (operation as SentOperation)
        : { ...operation, body: sendBytes(body, transfers) };
    }
    case 'admin_action':
      return { ...operation, inputJson: sendBytes(operation.inputJson, transfers) };
    default:
      return operation;
  }
}

export function receiveOperation(sent: SentOperation): ProviderOperation {
  switch (sent.kind) {
    case 'http_route': {
      // The copy has a prototype, but a parameter may be called `constructor`.
      const pathParams = Object.assign(Object.create(null), sent.pathParams);
      return { ...sent, pathParams, body: sent.body === null ? null : receiveBytes(sent.body) };
    }
    case 'admin_action':
      return { ...sent, inputJson: receiveBytes(sent.inputJson) };
    default:
      return sent;
  }
}
