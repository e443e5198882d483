import { headersOf } from './payloads.mjs';

/**
 * Sends one request and validates the response: a fast proxy with wrong responses is not comparable.
 * @param {import('./systems.mjs').System} system
 * @param {import('./systems.mjs').RunningSystem} running
 * @param {import('./payloads.mjs').Payload} payload
 * @returns {Promise<number>} bytes of the answer's body
 */
export async function verifyAnswer(system, running, payload) {
  const response = await fetch(running.url + payload.path, {
    method: payload.method,
    headers: {
      ...running.headers,
      ...headersOf(payload),
      ...(payload.request !== null && { 'content-type': 'application/json' }),
    },
    body: payload.request,
  });
  const text = await response.text();
  const fault = findFault(response, text, system, payload);
  if (fault !== null) throw new Error(`${system.name} answers ${payload.name} with ${fault}`);
  return Buffer.byteLength(text);
}

function findFault({ status }, text, { isEnveloped }, { answer, type, stream }) {
  if (status !== 200) return `status ${status}: ${text.slice(0, 500)}`;
  // Between two events of the host.
  if (isEnveloped && stream !== undefined) {
    return text.includes(answer) && text.includes('"reason":"complete"') ? null : 'another stream';
  }
  if (!isEnveloped || type !== undefined) return text === answer ? null : 'another body';
  if (!text.endsWith(`,"data":${answer}}`)) return 'other data';
  return JSON.parse(text).status === 'forwarded' ? null : 'another envelope';
}
