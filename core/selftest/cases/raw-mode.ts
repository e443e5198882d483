import type { Attack, Verdict } from '../attack-case.js';
import { expectNoSecrets, parseObject, sendOnce } from '../expectations.js';
import { headerValues, type ReceivedResponse } from '../raw-http.js';
import { RAW_MODE_ATTACKS, type RawModeAttack, SMUGGLED } from '../raw-mode-scripts.js';
import { listReceived, requireOwn, type Scene } from '../scene.js';

export const RAW_MODE_CASES: readonly Attack[] = RAW_MODE_ATTACKS.map((attack) => ({
  id: `raw-${attack.name}`,
  title: attack.title,
  attack: (scene) => attackRawMode(attack, scene),
}));

async function attackRawMode(attack: RawModeAttack, scene: Scene): Promise<Verdict> {
  const { bystander } = requireOwn(scene);
  const target = `/modules/raw/http/answers/${attack.name}`;
  const response = await sendOnce(scene, { target });
  if (listReceived(scene, bystander).length > 0)
    return 'a server that is not an endpoint was called';
  const text = `${JSON.stringify(response.headers)}\n${response.body.toString('latin1')}`;
  if (text.includes(SMUGGLED)) return 'a value of the provider reached the client';
  return (
    (attack.expected === null ? expectProblem(response) : expectPassed(attack, response)) ??
    expectNoSecrets(scene, response)
  );
}

function expectProblem(response: ReceivedResponse): Verdict {
  if (response.status !== 502) return `responded with ${response.status} instead of 502`;
  const isProblem = parseObject(response.body)?.['code'] === 'external_dependency_failure';
  return isProblem ? expectHeader(response, 'modgate-origin', 'host') : 'not the expected Problem';
}

function expectPassed({ expected }: RawModeAttack, response: ReceivedResponse): Verdict {
  const expectedHeaders = {
    'modgate-origin': 'provider',
    'x-content-type-options': 'nosniff',
    ...expected,
  };
  for (const [name, value] of Object.entries(expectedHeaders)) {
    const verdict = expectHeader(response, name, value);
    if (verdict !== null) return verdict;
  }
  return null;
}

function expectHeader(
  { headers }: ReceivedResponse,
  name: string,
  value: string | undefined,
): Verdict {
  const values = headerValues(headers, name);
  if (value === undefined) return values.length === 0 ? null : `the client received ${name}`;
  // A host varies by each header for credentials.
  const isExpected =
    name === 'vary'
      ? values.join().split(/, */).includes(value)
      : values.length === 1 && values[0] === value;
  return isExpected ? null : `${name} is not ${value}`;
}
