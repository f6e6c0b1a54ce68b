import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** `openssl` exited with an error. */
export class OpensslError extends Error {
  override readonly name = 'OpensslError'
}

const TIMEOUT_MS = 20_000

/**
 * Node cannot create certificates, so `openssl` does: never through a shell, with arguments that we make, and with all
 * foreign bytes in files of a private directory that is deleted afterwards.
 */
export async function withOpenssl<T>(
  baseDirectory: string,
  work: (tool: {
    /** Writes a file and returns its path. */
    put(name: string, content: string): Promise<string>
    get(name: string): Promise<string>
    path(name: string): string
    /** Resolves with its output on standard error. */
    run(...args: readonly string[]): Promise<string>
  }) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(baseDirectory, '.openssl-'))
  try {
    await chmod(directory, 0o700)
    const path = (name: string) => join(directory, name)
    return await work({
      path,
      get: (name) => readFile(path(name), 'utf8'),
      put: async (name, content) => {
        await writeFile(path(name), content, { mode: 0o600 })
        return path(name)
      },
      run: (...args) => run(directory, args),
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const run = (cwd: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile('openssl', args, { cwd, timeout: TIMEOUT_MS, env: {} }, (error, _stdout, stderr) => {
      if (error)
        reject(new OpensslError(`openssl ${args[0]}: ${stderr.trim().split('\n')[0] ?? 'failed'}`, { cause: error }))
      else resolve(stderr)
    })
  })
