/* Scans a document, all of its beginnings and many damaged copies of it, and reads every column of each: with the sanitizers of
 * the compiler, which end it where memory is touched that is nobody's. Copies are as large as they are, to the byte. */
#include "../../native/columns.c"
#include "../../native/tape.c"

#include <stdio.h>

static uint64_t state = 88172645463325252u;

static uint64_t chance(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static size_t rows_read;

static void read_columns(tape *scanned) {
    static const char *const keys[] = {"a", "b", "metrics", "aunits", "absent"};
    static const size_t sizes[][2] = {{1, 0}, {1, 0}, {7, 0}, {1, 5}, {6, 0}};
    size_t count = scan_count(scanned), room = count ? count : 1;
    int64_t *columns[5];
    for (int column = 0; column < 5; column++) columns[column] = malloc(room * sizeof(int64_t));
    uint8_t *kinds = malloc(room);
    scan_places(scanned, columns[0], columns[1]);
    rows_read += count;
    for (size_t wanted = 0; wanted < 6; wanted++) { /* the last is the record itself */
        path way = {(const uint8_t *)(wanted < 5 ? keys[wanted] : ""), sizes[wanted < 5 ? wanted : 0], wanted < 5 ? 1 + (wanted == 3) : 0};
        if (!scan_column(scanned, &way, kinds, columns[0], columns[1])) abort();
        scan_numbers(scanned, &way, kinds, columns[2], columns[0], columns[1]);
        scan_ends(scanned, &way, columns[0], columns[1], columns[2], columns[3], columns[4]);
        if (!scan_lengths(scanned, &way, columns[0])) continue;
        size_t parts = 0;
        for (size_t row = 0; row < count; row++) parts += (size_t)columns[0][row];
        int64_t *starts = malloc((parts + 1) * sizeof *starts), *stops = malloc((parts + 1) * sizeof *stops);
        starts[parts] = -1;
        scan_parts(scanned, &way, starts, stops);
        if (starts[parts] != -1) abort();
        free(starts);
        free(stops);
    }
    for (int column = 0; column < 5; column++) free(columns[column]);
    free(kinds);
}

static void scan(const uint8_t *document, size_t size) {
    uint8_t *data = malloc(size ? size : 1);
    memcpy(data, document, size);
    tape *scanned = scan_elements(data, size);
    read_columns(scanned);
    scan_free(scanned);
    int64_t starts[64], stops[64];
    size_t lines = 0, start = 0;
    for (size_t at = 0; at <= size && lines < 64; at++) {
        if (at < size && data[at] != '\n') continue;
        if (at > start) {
            starts[lines] = (int64_t)start;
            stops[lines++] = (int64_t)at;
        }
        start = at + 1;
    }
    scanned = scan_lines(data, size, starts, stops, lines);
    if (scanned) read_columns(scanned);
    scan_free(scanned);
    free(data);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    FILE *file = fopen(arguments[1], "rb");
    static uint8_t document[1 << 16], copy[1 << 16];
    size_t size = file ? fread(document, 1, sizeof document, file) : 0;
    for (size_t end = 0; end <= size; end++) scan(document, end);
    static const char marks[] = "{}[]\",:\\ \n0-.eEunN1x";
    for (long damages = atol(arguments[2]); damages > 0; damages--) {
        memcpy(copy, document, size);
        for (uint64_t times = 1 + chance(3); times && size; times--)
            copy[chance(size)] = chance(4) ? (uint8_t)marks[chance(sizeof marks - 1)] : (uint8_t)chance(256);
        scan(copy, size - chance(4) * (size > 4));
    }
    printf("%zu\n", rows_read);
    return 0;
}
