import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Starts nginx in the foreground, with all its files in the folder. @param http what `http {}` holds */
export function startNginx(folder: string, http: string): ChildProcess {
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `daemon off;\n${describeNginx(folder, http)}`);
  // The workers of nginx have another user.
  chmodSync(folder, 0o755);
  return spawn('nginx', ['-e', `${folder}/error.log`, '-c', file], { stdio: 'ignore' });
}

export function describeNginx(folder: string, http: string): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const head = `pid ${folder}/pid;\nerror_log ${folder}/error.log;\nevents {}\n`;
  return `${head}http {\naccess_log off;\n${paths}\n${http}\n}\n`;
}
