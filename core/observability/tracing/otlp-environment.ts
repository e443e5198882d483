import { ConfigError } from '../../errors.js';

// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ and …/protocol/exporter/

export const OTLP_PROTOCOLS = ['http/protobuf', 'http/json'] as const;

export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

const DEFAULT_PROTOCOL: OtlpProtocol = 'http/protobuf';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

interface Rule {
  /** Completes `OTEL_… must be …`. */
  readonly expected: string;
  fits(text: string): boolean;
}

// RFC 9110 5.6.2
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Anything else breaks a header apart, or the call that carries it. */
const HEADER_VALUE = /^[ -~]*$/;
const ATTRIBUTE_VALUE = /^\P{Cc}*$/u;

const url: Rule = {
  expected: 'an http or https URL, such as http://127.0.0.1:4318',
  fits: (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
};
const milliseconds: Rule = {
  expected: 'a whole number of milliseconds, 1 or more',
  fits: (text) => isWholeNumber(text) && Number(text) > 0,
};
const count: Rule = { expected: 'a whole number, 1 or more', fits: milliseconds.fits };

/** Of the exporter: each also as `OTEL_EXPORTER_OTLP_TRACES_…`, which then wins. */
const EXPORTER_RULES: Readonly<Record<string, Rule>> = {
  ENDPOINT: url,
  PROTOCOL: oneOf(OTLP_PROTOCOLS),
  HEADERS: pairs(HEADER_VALUE),
  TIMEOUT: milliseconds,
  COMPRESSION: oneOf(['none', 'gzip']),
};

const RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(
    Object.entries(EXPORTER_RULES).flatMap(([name, rule]) => [
      [`OTEL_EXPORTER_OTLP_${name}`, rule],
      [`OTEL_EXPORTER_OTLP_TRACES_${name}`, rule],
    ]),
  ),
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none']),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS),
  OTEL_TRACES_SAMPLER_ARG: {
    expected: 'a number from 0 to 1',
    fits: (text) => /^(?:\d+\.?\d*|\.\d+)$/.test(text) && Number(text) <= 1,
  },
  OTEL_RESOURCE_ATTRIBUTES: pairs(ATTRIBUTE_VALUE),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds,
  OTEL_BSP_EXPORT_TIMEOUT: milliseconds,
  OTEL_BSP_MAX_QUEUE_SIZE: count,
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: count,
};

/** Whether the environment asks for traces: it names where they go, and does not switch them off. */
export function wantsTraces(environment: NodeJS.ProcessEnv): boolean {
  const isOff =
    environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' ||
    environment['OTEL_TRACES_EXPORTER'] === 'none';
  return !isOff && readExporterVariable(environment, 'ENDPOINT') !== undefined;
}

/**
 * The SDK would go on with a default, and say so where nobody looks.
 * @throws ConfigError that names the first variable that does not fit; never with its value.
 */
export function checkOtlpEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const [name, { expected, fits }] of Object.entries(RULES)) {
    const text = environment[name]?.trim();
    if (text && !fits(text)) throw new ConfigError(`${name} must be ${expected}`);
  }
}

export function readOtlpProtocol(environment: NodeJS.ProcessEnv): OtlpProtocol {
  const given = readExporterVariable(environment, 'PROTOCOL');
  return OTLP_PROTOCOLS.find((one) => one === given) ?? DEFAULT_PROTOCOL;
}

/** An empty variable counts as absent. */
function readExporterVariable(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  return (
    environment[`OTEL_EXPORTER_OTLP_TRACES_${name}`]?.trim() ||
    environment[`OTEL_EXPORTER_OTLP_${name}`]?.trim() ||
    undefined
  );
}

function oneOf(words: readonly string[]): Rule {
  return { expected: `one of ${words.join(', ')}`, fits: (text) => words.includes(text) };
}

function isWholeNumber(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function pairs(value: RegExp): Rule {
  return {
    expected: 'a list such as name=value,other=value, the values percent-encoded',
    fits: (text) => text.split(',').every((pair) => isPair(pair, value)),
  };
}

function isPair(pair: string, value: RegExp): boolean {
  const equals = pair.indexOf('=');
  if (equals < 1 || !NAME.test(pair.slice(0, equals).trim())) return false;
  try {
    return value.test(decodeURIComponent(pair.slice(equals + 1).trim()));
  } catch {
    return false;
  }
}
