import type { AnyStruct } from '../contract/described.js';
import type { Balancing, Endpoint, FoundEndpoints, Provider } from '../contract/index.js';
import {
  balancing as balancingStruct,
  endpointList,
  foundEndpoints,
} from '../contract/provider-rules.js';
import { validateStruct } from '../document/validate.js';
import { type ErrorOwner, runAs } from '../isolation/error-owner.js';

const METHODS = ['manifest', 'check', 'invoke'] as const;
const OPTIONAL_METHODS = [
  'endpoints',
  'balancing',
  'followEndpoints',
  'credentialProblem',
  'useRoutes',
  'facts',
] as const;

/**
 * Validates the provider of an adapter, which is third-party code, and runs all of its code under
 * `owner`; `null` is the host.
 * @throws Error that names the invalid member.
 */
export function checkedProvider(opened: unknown, kind: string, owner: ErrorOwner | null): Provider {
  const provider = validateProvider(opened, kind);
  return {
    // An adapter may return a plain value instead of a promise; the value is validated in either case.
    manifest: (signal) => runAs(owner, () => Promise.resolve(provider.manifest(signal))),
    check: (signal, endpoint) =>
      runAs(owner, () => Promise.resolve(provider.check(signal, endpoint))),
    invoke: (invocation) => runAs(owner, () => Promise.resolve(provider.invoke(invocation))),
    ...runAs(owner, () => readConstants(provider, kind)),
    credentialProblem: () => readProblem(runAs(owner, () => provider.credentialProblem?.())),
    ...(provider.facts !== undefined && {
      facts: () => runAs(owner, () => provider.facts?.() ?? []),
    }),
    ...(provider.useRoutes !== undefined && {
      useRoutes: (routes) => runAs(owner, () => provider.useRoutes?.(routes)),
    }),
    ...checkFollowing(provider, kind, owner),
  };
}

/** Throws for an invalid list, which is an error of the adapter; the earlier endpoints stay. */
function checkFollowing(
  provider: Provider,
  kind: string,
  owner: ErrorOwner | null,
): Pick<Provider, 'followEndpoints'> {
  if (provider.followEndpoints === undefined) return {};
  const check = (endpoints: FoundEndpoints): FoundEndpoints => {
    validateConstant(endpoints, foundEndpoints, kind, 'followEndpoints');
    return { ...endpoints, endpoints: endpoints.endpoints.map(copyEndpoint) };
  };
  return {
    followEndpoints: (onChange) =>
      runAs(owner, () => {
        const first = provider.followEndpoints?.((endpoints) => onChange(check(endpoints)));
        return check(first as FoundEndpoints);
      }),
  };
}

/** Validates the value, because an adapter may return anything. */
function readProblem(problem: unknown): string | null {
  return typeof problem === 'string' ? problem : null;
}

/** Reads the members once, because breakers identify endpoints by these names. */
function readConstants(
  provider: Provider,
  kind: string,
): Pick<Provider, 'endpoints' | 'balancing'> {
  const listed = provider.endpoints?.();
  const balancing = provider.balancing?.();
  if (listed !== undefined) validateConstant(listed, endpointList, kind, 'endpoints');
  const endpoints = listed?.map(copyEndpoint);
  if (balancing !== undefined) validateConstant(balancing, balancingStruct, kind, 'balancing');
  return {
    ...(endpoints !== undefined && { endpoints: () => endpoints }),
    ...(balancing !== undefined && { balancing: (): Balancing => balancing }),
  };
}

function copyEndpoint({ id, weight, url, priority }: Endpoint): Endpoint {
  return {
    id,
    weight,
    ...(url !== undefined && { url }),
    ...(priority !== undefined && { priority }),
  };
}

function validateProvider(opened: unknown, kind: string): Provider {
  if (typeof opened !== 'object' || opened === null) {
    throw createProviderError(kind, "'open' must return an object with the methods of a provider");
  }
  const members = opened as Readonly<Record<string, unknown>>;
  for (const name of METHODS) {
    if (typeof members[name] !== 'function')
      throw createProviderError(kind, `'${name}' must be a function`);
  }
  for (const name of OPTIONAL_METHODS) {
    const member = members[name];
    if (member !== undefined && typeof member !== 'function') {
      throw createProviderError(kind, `'${name}' must be a function, or absent`);
    }
  }
  return opened as Provider;
}

function validateConstant(value: unknown, struct: AnyStruct, kind: string, name: string) {
  const [violation] = validateStruct(value, struct, [name]).violations;
  if (violation !== undefined) throw createProviderError(kind, violation.message);
}

function createProviderError(kind: string, problem: string): Error {
  return new Error(`the adapter of kind '${kind}' opened an invalid provider: ${problem}`);
}
