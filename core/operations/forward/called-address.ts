import { type CallerRequest, calledBase, type ModuleTarget } from '../request.js';

/** The address of the call, which a provider with `forward_client` receives. */
export interface CalledAddress {
  /** `https://gateway.example`; `null` if no setting defines it. */
  readonly origin: string | null;
  /** The part of the path that is not forwarded: `/modules/shop/http`. */
  readonly prefix: string;
}

/**
 * @param target `null` for an operation of the console bridge, which has no path at the provider
 */
export function createClientHeaders(
  { client }: Pick<CallerRequest, 'client'>,
  target: ModuleTarget | null,
): Record<string, string> {
  const host = findHost(client, target);
  // Empty for a mount at `/`, which removes nothing.
  const prefix = target === null ? '' : calledBase(target);
  return {
    ...(client && { 'x-forwarded-for': client.address, 'x-forwarded-proto': client.scheme }),
    ...(host !== null && { 'x-forwarded-host': host }),
    ...(prefix !== '' && { 'x-forwarded-prefix': prefix }),
  };
}

export function findCalledAddress(
  { client }: Pick<CallerRequest, 'client'>,
  target: ModuleTarget,
): CalledAddress {
  const host = findHost(client, target);
  const text = host === null || client === null ? '' : `${client.scheme}://${host}`;
  const origin = URL.canParse(text) ? new URL(text).origin : null;
  return { origin, prefix: calledBase(target) };
}

/** The host of a mount is from the descriptor, so that no caller chooses it. */
function findHost(client: CallerRequest['client'], target: ModuleTarget | null): string | null {
  return target?.mount?.host ?? client?.host ?? null;
}
