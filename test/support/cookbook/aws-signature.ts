import { createHash, createHmac } from 'node:crypto';

/** A request as a service receives it. */
export interface ReceivedRequest {
  readonly method: string;
  /** The method of the request line. */
  readonly target: string;
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface AwsAccount {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  readonly service: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/;
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
/** The clock skew that API Gateway accepts. Milliseconds. */
const MAX_SKEW_MS = 300_000;

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Uint8Array, text: string) =>
  createHmac('sha256', key).update(text).digest();

/**
 * Computes a signature after AWS Signature Version 4 for services other than S3, without the library of the page.
 * @param signedHeaders in the order of the signature
 */
export function computeSignature(
  { method, target, headers, body }: ReceivedRequest,
  { secretKey, region, service }: AwsAccount,
  signedHeaders: readonly string[],
): string {
  const [path = '', query = ''] = target.split('?');
  const date = headers['x-amz-date'] ?? '';
  const canonical = [
    method,
    path.split('/').map(encode).join('/'),
    toCanonicalQuery(query),
    ...signedHeaders.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    sha256(body),
  ].join('\n');
  const scope = [date.slice(0, 8), region, service, 'aws4_request'];
  const key = scope.reduce<string | Uint8Array>(hmac, `AWS4${secretKey}`);
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n');
  return hmac(key, text).toString('hex');
}

/** @returns why AWS would reject the request, `null` if it would not */
export function findSignatureProblem(
  request: ReceivedRequest,
  account: AwsAccount,
  now: number,
): string | null {
  const { headers } = request;
  const [, accessKey, scope, names = '', signature] =
    AUTHORIZATION.exec(headers['authorization'] ?? '') ?? [];
  const date = headers['x-amz-date'] ?? '';
  const signedHeaders = names.split(';');
  const required = Object.keys(headers).filter((name) => /^(?:host|x-amz-.*)$/.test(name));
  if (accessKey !== account.accessKey) return 'unknown access key';
  if (scope !== `${date.slice(0, 8)}/${account.region}/${account.service}/aws4_request`) {
    return 'another scope';
  }
  if (!required.every((name) => signedHeaders.includes(name))) return 'headers are not signed';
  if (!(Math.abs(now - Date.parse(date.replace(DATE, '$1-$2-$3T$4:$5:$6Z'))) <= MAX_SKEW_MS)) {
    return 'expired';
  }
  const isValid = signature === computeSignature(request, account, signedHeaders);
  return isValid ? null : 'another signature';
}

/** Every byte but the unreserved ones of RFC 3986. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Sorted by names, then by values. */
function toCanonicalQuery(query: string): string {
  const pairs = query.split('&').filter((pair) => pair !== '');
  const encoded = pairs.map((pair) => {
    const [name = '', value = ''] = pair.split('=').map((part) => encode(decodeURIComponent(part)));
    return `${name}\0${value}`;
  });
  return encoded.sort().join('&').replaceAll('\0', '=');
}
