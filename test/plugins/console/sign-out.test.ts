import { useConsole } from '../../support/console/use-console.js';

describe('signing out of the console', () => {
  const setup = useConsole();

  it('reports a failure, and can be repeated', async () => {
    const page = await setup.open('/console/modules');
    const problem = { code: 'unavailable', status: 503, detail: 'the store does not answer' };
    const fail = { status: 503, json: problem };
    await page.route('**/console/api/session', (route) => route.fulfill(fail), { times: 1 });
    const signOut = page.getByRole('button', { name: 'Sign out', exact: true });
    await signOut.click();
    await page.getByText('the store does not answer').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await signOut.click();
    await signOut.waitFor({ state: 'detached' });
  });
});
