import { type Files, type Setup, useStarted } from '../http/use-host.js';
import { writePlugin } from '../isolation/write-plugin.js';
import { type HostProcess, startHostProcess } from '../start-host.js';
import { createFolder } from '../temporary-folder.js';

interface SurfaceHost {
  /** The source of the plugin. */
  readonly entry: string;
  /** All that the plugin has. */
  readonly surfaces: readonly string[];
  /** Those that the host serves, default all. */
  readonly served?: readonly string[];
  /** Default none. */
  readonly files?: Files;
  /** More arguments of the host. */
  readonly args?: readonly string[];
}

/** One process for all tests of a suite, with the surfaces of one plugin. */
export function useSurfaceHost({
  entry,
  surfaces,
  served = surfaces,
  files = () => ({}),
  args: more = [],
}: SurfaceHost): Setup<HostProcess> {
  return useStarted((provider) => {
    const plugins = createFolder();
    writePlugin(plugins, { name: 'acme-desk', manifest: { kinds: undefined, surfaces }, entry });
    const args = ['--plugins', plugins, '--surfaces', served.join(), ...more];
    return startHostProcess({ files: files(provider), args });
  });
}
