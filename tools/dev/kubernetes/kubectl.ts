import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import type { KubernetesCluster, Lab } from '@spout/testkit'
import { run, writeProgram } from '@spout/testkit'
import type { Teller } from '../story/teller.ts'

/** Directory with the lab's own `kubectl`, of the cluster's version. */
export const kubectlDirectory = (lab: Lab): string => path.join(lab.directory, 'bin')

/** Puts `kubectl` into the lab's directory, so that commands work as in Kubernetes' own documents. */
export function installKubectl(lab: Lab, { kubectl: [program = '', role = ''] }: KubernetesCluster): void {
  const file = path.join(kubectlDirectory(lab), 'kubectl')
  mkdirSync(path.dirname(file), { recursive: true })
  writeProgram(file, `#!/bin/sh\nexec '${program}' ${role} "$@"\n`)
}

/** Whether a search path already has a `kubectl`. */
export const hasKubectl = (searchPath: string): boolean =>
  searchPath.split(':').some((directory) => directory !== '' && existsSync(path.join(directory, 'kubectl')))

/** Runs commands as the cluster's administrator and shows each command. */
export class Kubectl {
  readonly #argv: readonly string[]
  readonly #teller: Teller
  readonly #typed: string

  /** @param typed the command as it is shown, for a cluster that is not the one of `./dev env` */
  constructor(cluster: KubernetesCluster, teller: Teller, typed = 'kubectl') {
    this.#argv = cluster.kubectl
    this.#teller = teller
    this.#typed = typed
  }

  /** @returns its output. @throws Error when it failed */
  async run(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#started(args)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: exit ${code}: ${stderr.trim() || stdout.trim()}`)
    return stdout
  }

  /** @returns why the API server refused it. @throws Error when it did not */
  async refused(...args: readonly string[]): Promise<string> {
    const { code, stderr } = await this.#started(args)
    if (code === 0) throw new Error(`kubectl ${args.join(' ')}: it was not refused`)
    return stderr
  }

  #started(args: readonly string[]) {
    this.#teller.command(`${this.#typed} ${args.map(asTyped).join(' ')}`)
    return run([...this.#argv, ...args])
  }

  /** Runs a command and shows its output. */
  async show(...args: readonly string[]): Promise<string> {
    const text = await this.run(...args)
    this.#teller.answer(text)
    return text
  }
}

const asTyped = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
