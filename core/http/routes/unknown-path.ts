import { HostError } from '../../errors.js';

export function createUnknownPath(): HostError {
  return new HostError('not_found', 'the host has no such path', {
    nextActions: [
      'modules are called at /modules/{module}/http/{path}',
      'see /docs or GET /openapi.json for their routes',
    ],
  });
}
