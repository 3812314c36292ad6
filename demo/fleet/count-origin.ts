/**
 * Loaded into each server before Garner: writes down when it asks the database for a list, to the nanosecond of a clock
 * that all processes of a machine share. At once and to a file, so that what a killed process did is known, too.
 */
import { subscribe } from 'node:diagnostics_channel'
import { openSync, writeSync } from 'node:fs'

const file = openSync(process.env.ORIGIN_READS_FILE ?? '', 'a')
subscribe('garner:origin-read', () => {
  writeSync(file, `${process.hrtime.bigint()}\n`)
})
