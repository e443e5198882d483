import { availableParallelism } from 'node:os';
import { expect } from 'chai';
import { countCores } from '../../core/lib/count-cores.js';
import { createFolder } from '../support/temporary-folder.js';

const CORES = availableParallelism();

describe('countCores', () => {
  const count = (files: Readonly<Record<string, string>>) => countCores(createFolder(files));

  const GROUP = 'proc/self/cgroup';
  const V2 = { [GROUP]: '0::/pod/app\n' };
  const V1 = { [GROUP]: '9:memory:/x\n4:cpu,cpuacct:/pod/app\n1:name=systemd:/\n' };
  const quota = (text: string, folder: string) => ({ [`sys/fs/cgroup/${folder}cpu.max`]: text });
  const cfs = (us: string, folder: string) => ({
    [`sys/fs/cgroup/${folder}cpu.cfs_quota_us`]: us,
    [`sys/fs/cgroup/${folder}cpu.cfs_period_us`]: '100000\n',
  });
  const CASES: readonly (readonly [title: string, files: Record<string, string>, cores: number])[] =
    [
      ['no cgroup at all', {}, CORES],
      ['no quota, version 2', { ...V2, ...quota('max 100000\n', 'pod/app/') }, CORES],
      ['a quota of one core', { ...V2, ...quota('100000 100000\n', 'pod/app/') }, 1],
      ['less than one core', { ...V2, ...quota('20000 100000\n', 'pod/app/') }, 1],
      ['a core and a half', { ...V2, ...quota('150000 100000\n', 'pod/app/') }, 1],
      ['the quota of a parent', { ...V2, ...quota('100000 100000\n', 'pod/') }, 1],
      ['the root of a container', { [GROUP]: '0::/\n', ...quota('100000 100000\n', '') }, 1],
      ['a path of the machine', { [GROUP]: '0::/../../x\n', ...quota('50000 50000\n', '') }, 1],
      ['more than the machine has', { ...V2, ...quota('99900000 100000\n', 'pod/app/') }, CORES],
      ['no quota, version 1', { ...V1, ...cfs('-1\n', 'cpu,cpuacct/pod/app/') }, CORES],
      ['a quota, version 1', { ...V1, ...cfs('100000\n', 'cpu,cpuacct/pod/app/') }, 1],
      ['version 1 in a container', { ...V1, ...cfs('100000\n', 'cpu/') }, 1],
      ['both versions', { [GROUP]: '1:cpu:/\n0::/\n', ...cfs('100000\n', 'cpu/') }, 1],
      ['a file of another form', { ...V2, ...quota('much\n', 'pod/app/') }, CORES],
    ];
  for (const [title, files, cores] of CASES) {
    it(`returns ${cores === 1 ? '1' : 'the cores of the machine'} for ${title}`, () => {
      expect(count(files)).to.equal(cores);
    });
  }
});
