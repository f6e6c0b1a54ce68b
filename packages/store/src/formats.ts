import { FORMAT as KUBERNETES } from './kubernetes/root.ts'
import { MIGRATIONS as POSTGRES, USABLE_FROM as POSTGRES_USABLE_FROM } from './postgres/migrations.ts'
import { MIGRATIONS as SQLITE, USABLE_FROM as SQLITE_USABLE_FROM } from './sqlite/migrations.ts'
import type { StoreFormat } from './store.ts'

/** By engine: what a control plane of this version makes of a store that it opens. */
export const FORMATS: Readonly<Record<StoreFormat['engine'], StoreFormat>> = {
  sqlite: { engine: 'sqlite', version: SQLITE.length, usableFrom: SQLITE_USABLE_FROM },
  postgres: { engine: 'postgres', version: POSTGRES.length, usableFrom: POSTGRES_USABLE_FROM },
  kubernetes: { engine: 'kubernetes', ...KUBERNETES },
}
