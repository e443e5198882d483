import { expect } from 'chai';
import { SETTING_NAMES, settingVariable } from '../../core/config/settings.js';
import { findUnknownVariables } from '../../core/config/unknown-variables.js';
import { startHostProcess } from '../support/start-host.js';

describe('findUnknownVariables', () => {
  it('names the nearest setting', () => {
    expect(findUnknownVariables({ MODGATE_PROT: '1', MODGATE_zzzzzzzz: '' })).to.deep.equal([
      { name: 'MODGATE_PROT', hint: 'did you mean MODGATE_PORT?' },
      { name: 'MODGATE_zzzzzzzz', hint: null },
    ]);
  });

  it('accepts every setting, other variables of modgate, and those of kubernetes', () => {
    const names = [
      ...SETTING_NAMES.map(settingVariable),
      'MODGATE_CONFIG',
      'MODGATE_STORE_KEY',
      'MODGATE_URL',
      'MODGATE_SERVICE_HOST',
      'MODGATE_SERVICE_PORT_HTTP',
      'MODGATE_PORT_3000_TCP_ADDR',
      'PATH',
    ];
    const environment = Object.fromEntries(names.map((name) => [name, 'x']));
    expect(findUnknownVariables(environment)).to.deep.equal([]);
  });

  it('is logged when the host starts, without the value', async () => {
    const host = await startHostProcess({ env: { MODGATE_PROT: 'hunter2' } });
    try {
      const line = host.logs().find(({ msg }) => msg === 'unknown variable');
      expect(line).to.include({ variable: 'MODGATE_PROT', hint: 'did you mean MODGATE_PORT?' });
      expect(JSON.stringify(host.logs())).not.to.include('hunter2');
    } finally {
      await host.stop();
    }
  });
});
