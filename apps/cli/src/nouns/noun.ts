import type { Session } from '@spout/client/api'
import type { Row } from '../resources/resource.ts'
import type { WritingSession } from './write.ts'

/** The verbs of one noun. `within` are the names of the enclosing objects, outermost first. */
export interface Noun {
  list(session: Session, within: readonly string[]): Promise<readonly Row[]>
  show(session: Session, within: readonly string[], name: string): Promise<Row>
  create(session: WritingSession, within: readonly string[], name: string, body: Row): Promise<Row>
  /** Changes the fields of the body and keeps the others. */
  set?(session: WritingSession, within: readonly string[], name: string, body: Row): Promise<Row>
  delete(session: WritingSession, within: readonly string[], name: string): Promise<void>
  /** The collection whose watch reports changes of the list: for parts, that of the objects that they are in. */
  readonly watchPath: string
}
