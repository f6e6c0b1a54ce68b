/**
 * Opens a store as the control plane does, in a process of its own, and prints `{objects, bytes, rssBytes}`: the
 * resident memory that this took. The argument is the database's path.
 */
import { SqliteStore } from '@spout/store'
import { StoreAdmission } from '../store-admission.ts'
import { StoreView } from '../view/store-view.ts'

const ended = new AbortController()
const before = process.memoryUsage().rss
const store = await SqliteStore.open({ path: process.argv[2] ?? '' })
const view = await StoreView.open(store, { signal: ended.signal })
const admission = new StoreAdmission({ store, view })
const bytes = view.list('project').reduce((sum, { id }) => sum + admission.quotaOf(id).used.bytes, 0)
const objects = view.list('loadBalancer').length
process.stdout.write(JSON.stringify({ objects, bytes, rssBytes: process.memoryUsage().rss - before }))
ended.abort()
admission.close()
await store.close()
