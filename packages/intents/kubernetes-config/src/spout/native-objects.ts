import { NativeApi, Refused } from '@spout/client/native-api'

/** The fields that all objects of the native API share. */
export interface ApiObject {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly [field: string]: unknown
}

/** A client of the native API with an administrator's token, which also finds objects by name. */
export class NativeObjects extends NativeApi {
  async list(path: string): Promise<readonly ApiObject[]> {
    return (await this.call<{ items: readonly ApiObject[] }>('GET', path)).items
  }

  /** @returns the object of that name; null when there is none, or more than one */
  async find(path: string, name: string): Promise<ApiObject | null> {
    const found = await this.list(`${path}?name=${encodeURIComponent(name)}`)
    return found.length === 1 ? (found[0] as ApiObject) : null
  }

  /** @throws Refused ReferenceNotFound */
  async idOf(path: string, what: string, name: string, field: string): Promise<string> {
    const found = await this.find(path, name)
    if (found === null) throw new Refused('ReferenceNotFound', `Field ${field}: ${what} ${name} not found`, field)
    return found.id
  }
}
