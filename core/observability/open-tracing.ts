import { ConfigError } from '../config/config-error.js';
import type { Log } from '../contract/index.js';
import type { RequestTracing } from '../operations/request-span.js';

export interface Tracing extends RequestTracing {
  /** Sends what has not been sent, as far as that is possible in a second. Never throws. */
  close(): Promise<void>;
}

export const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;

export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and …/protocol/exporter/
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'] as const;
const DEFAULT_PROTOCOL: OtlpProtocol = 'http/protobuf';

/**
 * Traces go to where `OTEL_EXPORTER_OTLP_ENDPOINT` says; without it there are none, and the SDK, which
 * takes 100 ms to load, stays on the disk.
 * @throws ConfigError that names the variable.
 */
export async function openTracing(
  environment: NodeJS.ProcessEnv,
  version: string,
  log: Log,
): Promise<Tracing | null> {
  if (isOff(environment) || !hasEndpoint(environment)) return null;
  const protocol = readProtocol(environment);
  const { createOtlpTracing } = await import('./otlp-tracing.js');
  return createOtlpTracing(protocol, version, log);
}

function isOff(environment: NodeJS.ProcessEnv): boolean {
  return (
    environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' ||
    environment['OTEL_TRACES_EXPORTER'] === 'none'
  );
}

function hasEndpoint(environment: NodeJS.ProcessEnv): boolean {
  const name = ENDPOINTS.find((one) => environment[one]);
  if (name === undefined) return false;
  if (/^https?:\/\//i.test(environment[name] ?? '') && URL.canParse(environment[name] ?? '')) {
    return true;
  }
  throw new ConfigError(`${name} must be an http or https URL, such as http://127.0.0.1:4318`);
}

function readProtocol(environment: NodeJS.ProcessEnv): OtlpProtocol {
  const name = PROTOCOLS.find((one) => environment[one]);
  if (name === undefined) return DEFAULT_PROTOCOL;
  const protocol = OTLP_PROTOCOLS.find((one) => one === environment[name]);
  if (protocol !== undefined) return protocol;
  throw new ConfigError(`${name} must be one of ${OTLP_PROTOCOLS.join(', ')}`);
}
