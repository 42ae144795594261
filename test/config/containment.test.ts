import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addFile,
  makeHerd,
  only,
  problemsOf,
  refusalOf,
  stdioAgent,
  stdioConfig,
  stdioOf,
} from './support.js';

const MANIFEST = JSON.stringify({ packages: [{ runtime: 'npx', command: ['x'] }] });

describe('C3: an envFile of a project cannot leave its folder', () => {
  const files = { 'secret.env': 'STOLEN=1\n', 'project/sub/x': '' };

  it.each(['../secret.env', 'sub/../../secret.env', '/etc/hostname', '..', '../project/../secret.env'])(
    '%s is refused',
    async (path) => {
      const [problem] = await problemsOf({ agent: stdioAgent(`envFile: ${path}`), files });
      expect(problem).toMatchObject({ path: 'tools[0].envFile', line: 7, column: 14 });
      expect(problem?.message).toContain('leaves the folder');
    },
  );

  it('S2: an absolute path inside the folder is read, also if the folder is named through a link', async () => {
    const herd = makeHerd({ files: { 'project/.env': 'A=b' }, agent: '' });
    addFile(herd.agentFile, stdioAgent(`envFile: ${join(herd.project, '.env')}`));
    expect(only(await herd.load()).env).toEqual({ A: 'b' });
    symlinkSync('project', join(herd.folder, 'linked'));
    const agentFile = join(herd.folder, 'linked/agent.yaml');
    expect(only(await herd.load({ agentFile })).env).toEqual({ A: 'b' });
  });

  it('S2: ${workspaceFolder} is the folder of the file', async () => {
    const setting = {
      files: { 'project/.env': 'A=b' },
      agent: stdioAgent('envFile: "${workspaceFolder}/.env"'),
    };
    expect(only(await makeHerd(setting).load()).env).toEqual({ A: 'b' });
    const agent = stdioAgent('envFile: "${workspaceFolder}/../secret.env"');
    expect((await problemsOf({ agent, files }))[0]?.message).toContain('leaves the folder');
  });

  it.each(['${HOME}/.env', '${A:-b}', '${'])('another variable is refused: %s', async (path) => {
    const [problem] = await problemsOf({
      agent: stdioAgent(`envFile: "${path}"`),
      files,
      env: { HOME: '/' },
    });
    expect(problem?.message).toContain('may hold ${workspaceFolder} and ${userHome}, and no other variable');
  });

  it.each([
    ['the file is a link', '.env', 'project/.env'],
    ['a folder on the way is a link', 'linked/secret.env', 'project/linked'],
  ])('a link out of the folder is refused: %s', async (_, path, link) => {
    const herd = makeHerd({ agent: stdioAgent(`envFile: ${path}`), files });
    symlinkSync(
      link.endsWith('linked') ? herd.folder : join(herd.folder, 'secret.env'),
      join(herd.folder, link),
    );
    const { problems } = await refusalOf(herd.load());
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain('by a link');
  });

  it('a link that stays inside is followed', async () => {
    const herd = makeHerd({
      agent: stdioAgent('envFile: .env'),
      files: { 'project/conf/real.env': 'A=b\n' },
    });
    symlinkSync('conf/real.env', join(herd.project, '.env'));
    expect(only(await herd.load()).env).toEqual({ A: 'b' });
  });

  it('a name that only begins with two dots stays inside', async () => {
    const herd = makeHerd({ agent: stdioAgent('envFile: ..env'), files: { 'project/..env': 'A=b\n' } });
    expect(only(await herd.load()).env).toEqual({ A: 'b' });
  });

  it("the user's own files may name a file elsewhere", async () => {
    const herd = makeHerd({ config: stdioConfig('envFile: ../secret.env'), files });
    expect(only(await herd.load()).env).toEqual({ STOLEN: '1' });
    addFile(herd.configFile, stdioConfig(`envFile: ${join(herd.folder, 'secret.env')}`));
    expect(only(await herd.load()).env).toEqual({ STOLEN: '1' });
    addFile(herd.configFile, stdioConfig('envFile: "${userHome}/secret.env"'));
    expect(only(await herd.load({ userHome: herd.folder })).env).toEqual({ STOLEN: '1' });
  });
});

describe('C3: a plugin folder is not a link, and a project may only name its own', () => {
  const plugin = (path: string) => stdioAgent(`plugin_dir: ${path}`).replace(/ +command.*\n/, '');
  const files = { 'outside/plugin.json': MANIFEST, 'project/p/plugin.json': MANIFEST };

  it.each(['../outside', 'p/../../outside', '..'])('%s is refused', async (path) => {
    const [problem] = await problemsOf({ agent: plugin(path), files });
    expect(problem).toMatchObject({ path: 'tools[0].plugin_dir' });
    expect(problem?.message).toContain('leaves the folder');
  });

  it('an absolute path is refused', async () => {
    const herd = makeHerd({ agent: '', files });
    addFile(herd.agentFile, plugin(join(herd.folder, 'outside')));
    await expect(herd.load()).rejects.toThrow('leaves the folder');
  });

  it.each([
    ['to the outside', '../outside'],
    ['to the inside', 'p'],
  ])('a linked plugin folder is refused: %s', async (_, target) => {
    const herd = makeHerd({ agent: plugin('linked'), files });
    symlinkSync(target, join(herd.project, 'linked'));
    const { problems } = await refusalOf(herd.load());
    expect(problems).toMatchObject([{ path: 'tools[0].plugin_dir' }]);
    expect(problems[0]?.message).toContain('symbolic link');
  });

  it('a path that leaves the project through a link is refused', async () => {
    const herd = makeHerd({ agent: plugin('linked/outside'), files });
    symlinkSync('..', join(herd.project, 'linked'));
    await expect(herd.load()).rejects.toThrow('by a link');
  });

  it('a linked plugin folder of the global config is refused too', async () => {
    const config = 'version: "1.0"\nmcp_servers:\n  - {name: a, server: s, plugin_dir: linked}\n';
    const herd = makeHerd({ config, files });
    symlinkSync('../outside', join(herd.home, 'linked'));
    await expect(herd.load()).rejects.toThrow('symbolic link');
  });

  it('the global config may name a folder anywhere', async () => {
    const herd = makeHerd({ config: '', files });
    const entry = `{name: a, server: s, plugin_dir: ${join(herd.folder, 'outside')}}`;
    addFile(herd.configFile, `version: "1.0"\nmcp_servers:\n  - ${entry}\n`);
    expect(stdioOf(await herd.load()).args).toEqual(['-y', 'x']);
  });

  it('a linked manifest that leads out of the plugin is refused', async () => {
    const herd = makeHerd({ agent: plugin('q'), files });
    mkdirSync(join(herd.project, 'q'));
    symlinkSync(join(herd.folder, 'outside/plugin.json'), join(herd.project, 'q/plugin.json'));
    await expect(herd.load()).rejects.toThrow('by a link');
  });

  it.each(['../../outside/plugin.json', '/etc/passwd'])('manifest: %s is refused', async (manifest) => {
    const agent = stdioAgent('plugin_dir: p', `manifest: ${manifest}`).replace(/ +command.*\n/, '');
    const [problem] = await problemsOf({ agent, files });
    expect(problem?.message).toContain('leaves the folder');
  });
});
