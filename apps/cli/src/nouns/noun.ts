import type { Session } from '@spout/client/api'
import type { Row } from '../resources/resource.ts'

/** What the verbs of one noun do. `within` are the names of the objects it lies in, outermost first. */
export interface Noun {
  list(session: Session, within: readonly string[]): Promise<readonly Row[]>
  show(session: Session, within: readonly string[], name: string): Promise<Row>
  create(session: Session, within: readonly string[], name: string, body: Row): Promise<Row>
  /** Changes the fields of the body and leaves the others. */
  set?(session: Session, within: readonly string[], name: string, body: Row): Promise<Row>
  delete(session: Session, within: readonly string[], name: string): Promise<void>
  /** Where a watch of the list is found; null where there is none. */
  watchPath(session: Session, within: readonly string[]): Promise<string | null>
}
