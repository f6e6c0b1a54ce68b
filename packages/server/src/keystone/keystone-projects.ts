import type { Admission, ModelView } from '@spout/admission/contract'
import { SpoutError } from '@spout/model'
import type { Logger } from '@spout/runtime'
import { fullName, type KeystoneToken, uuidOf } from './keystone-token.ts'

export interface KeystoneProjectsOptions {
  readonly admission: Admission
  readonly view: ModelView
  readonly log: Logger
  /** Names of projects here, by the ids of Keystone's that they stand for. */
  readonly mapped: ReadonlyMap<string, string>
  /** Whether a project of Keystone that is not mapped becomes one here, with its id, when it is first used. */
  readonly createsProjects: boolean
  /** Name of the project here that tokens for Keystone's system act in. */
  readonly systemProject: string
}

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** Maps the project of a Keystone token to one of ours. */
export class KeystoneProjects {
  readonly #options: KeystoneProjectsOptions
  readonly #mapped: ReadonlyMap<string, string>
  readonly #creating = new Map<string, Promise<void>>()

  constructor(options: KeystoneProjectsOptions) {
    this.#options = options
    this.#mapped = new Map([...options.mapped].map(([id, name]) => [uuidOf(id), name]))
  }

  /**
   * @returns id of the project; null for a token without one, which gives access to no object
   * @throws SpoutError Forbidden for a project that has none here, or one that is disabled here
   */
  async idFor({ project, system }: KeystoneToken): Promise<string | null> {
    const { view, createsProjects, systemProject } = this.#options
    if (project === undefined) return system?.all === true ? this.#named(systemProject) : null
    const id = uuidOf(project.id)
    const mapped = this.#mapped.get(id)
    if (mapped !== undefined) return this.#named(mapped)
    if (view.get('project', id) === null) {
      if (!createsProjects) throw forbidden(`Keystone's project ${project.id} has no project here`)
      if (!UUID.test(id)) throw forbidden(`the id of Keystone's project, ${project.id}, is not 32 hexadecimal digits`)
      await this.#create(id, project)
    }
    return this.#enabled(id)
  }

  #named(name: string): string {
    const found = this.#options.view.list('project').find((project) => project.name === name)
    if (found === undefined) throw forbidden(`Keystone's project is mapped to ${name}, which does not exist here`)
    return this.#enabled(found.id)
  }

  #enabled(id: string): string {
    if (this.#options.view.get('project', id)?.value.enabled !== true) throw forbidden('the project is disabled here')
    return id
  }

  /** Requests at the same time share one creation. */
  #create(id: string, project: NonNullable<KeystoneToken['project']>): Promise<void> {
    const running = this.#creating.get(id)
    if (running !== undefined) return running
    const started = this.#createOnce(id, project).finally(() => this.#creating.delete(id))
    this.#creating.set(id, started)
    return started
  }

  async #createOnce(id: string, project: NonNullable<KeystoneToken['project']>): Promise<void> {
    const { admission, log } = this.#options
    const name = fullName(project)
    // Names are unique here, and a project of our own may have this one.
    for (const tried of [name, `${name} (${id})`, id])
      try {
        await admission.createProject({ id, name: tried, description: `Keystone's project ${project.id}` })
        log.info({ event: 'keystone-project-created', projectId: id }, 'a project was made for one of Keystone')
        return
      } catch (error) {
        if (!(error instanceof SpoutError)) throw error
        if (error.code === 'AlreadyExists') return
        if (error.code !== 'NameTaken' && error.code !== 'InvalidField') throw error
      }
    throw forbidden(`Keystone's project ${project.id} cannot be made here`)
  }
}

const forbidden = (reason: string): SpoutError => new SpoutError('Forbidden', { reason })
