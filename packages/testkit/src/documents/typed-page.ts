import type { RunResult } from '../lab/run.ts'
import { documentedBlocks } from './blocks.ts'

/** A command that a page says to type. */
export interface DocumentedCommand {
  /** The heading that it is under. */
  readonly heading: string
  readonly command: string
  /** The lines that the page shows after it: what it prints, or of `cat FILE` what the file has. */
  readonly printed: readonly string[]
}

/**
 * The commands of a page's console blocks, in their order. One goes on in the next line after a backslash, and within
 * single quotes. A block whose first line begins with `# ` is root's, and so are its commands.
 */
export const documentedCommands = (page: string): readonly DocumentedCommand[] =>
  documentedBlocks(page, 'console').flatMap(({ heading, lines }) => {
    const found: { heading: string; command: string; printed: string[] }[] = []
    // In other blocks `# ` begins a line that a command prints, such as a comment.
    const prompts = lines[0]?.startsWith('# ') ? ['# ', '$ '] : ['$ ']
    let goesOn = false
    for (const line of lines) {
      const last = found.at(-1)
      const begins = prompts.includes(line.slice(0, 2))
      if (goesOn) last!.command += `\n${line}`
      else if (begins) found.push({ heading, command: line.slice(2), printed: [] })
      else if (last === undefined) throw new Error(`docs/${page}: a block begins with ${line}, which is no command`)
      else last.printed.push(line)
      goesOn = (goesOn || begins) && isUnfinished(found.at(-1)!.command)
    }
    return found
  })

const isUnfinished = (command: string): boolean => command.endsWith('\\') || command.split("'").length % 2 === 0

/**
 * A page whose commands a test types. It knows which ones nobody has typed, so that a command that is added to the page
 * is missed.
 */
export class TypedPage {
  readonly #page: string
  readonly #left: DocumentedCommand[]
  readonly #shell: (command: string, input?: string) => Promise<RunResult>

  /** @param shell runs a command as a reader of the page does */
  constructor(page: string, shell: (command: string, input?: string) => Promise<RunResult>) {
    this.#page = page
    this.#left = [...documentedCommands(page)]
    this.#shell = shell
  }

  /** Commands that were neither taken nor left out. */
  get left(): readonly string[] {
    return this.#left.map(({ command }) => command)
  }

  /** The first command left that begins with these words; it counts as typed. @throws Error when there is none */
  take(beginning: string): DocumentedCommand {
    const at = this.#left.findIndex(({ command }) => command.startsWith(beginning))
    const [found] = at === -1 ? [] : this.#left.splice(at, 1)
    if (found === undefined) throw new Error(`docs/${this.#page}: no command left begins with ${beginning}`)
    return found
  }

  /**
   * Types that command.
   * @returns what it printed, and what the page shows
   * @throws Error when it fails
   */
  async type(beginning: string, input?: string): Promise<{ readonly said: string; readonly shown: string }> {
    const { command, printed } = this.take(beginning)
    const { code, stdout, stderr } = await this.#shell(command, input)
    if (code !== 0) throw new Error(`docs/${this.#page}: ${command}: exit ${code}: ${stderr.trim() || stdout.trim()}`)
    return { said: `${stdout}${stderr}`, shown: printed.join('\n') }
  }

  /** Leaves out the commands that begin with these words, for a reason that the test's reader is told. */
  leaveOut(beginning: string, reason: string): void {
    const before = this.#left.length
    const others = this.#left.filter(({ command }) => !command.startsWith(beginning))
    if (others.length === before)
      throw new Error(`docs/${this.#page}: no command left begins with ${beginning}, which was left out: ${reason}`)
    this.#left.splice(0, before, ...others)
  }
}
