/* What Python calls (warehouse/landing/json_scan.py): records of a piece of JSON as a tape, and columns of them into memory that
 * the caller has: of a value for each record, where nothing else is said. */
#include "tape.h"

#include <stdlib.h>
#include <string.h>

/* A path of keys, one after another in `keys`, each as long as `sizes` says. */
typedef struct {
    const uint8_t *keys;
    const size_t *sizes;
    size_t depth;
} path;

/* What the record before had at a step of a path: where its object begins, and how far behind that the key is, 0 for nowhere. */
typedef struct {
    size_t object, place;
} memory;

#define SCAN_VERSION 1 /* raised with every change of what is called here: code and library must be of one */
#define MOST_STEPS 16
#define NOWHERE SIZE_MAX

static tape *new_tape(const uint8_t *data, size_t size) {
    tape *scanned = calloc(1, sizeof *scanned);
    if (scanned) *scanned = (tape){.data = data, .size = size};
    return scanned;
}

int scan_version(void) {
    return SCAN_VERSION;
}

void scan_free(tape *scanned) {
    if (scanned) {
        free(scanned->nodes);
        free(scanned->records);
    }
    free(scanned);
}

/* The elements with which the bytes begin, as far as they are whole and plain: there may be none. NULL for want of memory. */
tape *scan_elements(const uint8_t *data, size_t size) {
    tape *scanned = new_tape(data, size < UINT32_MAX ? size : UINT32_MAX);
    for (size_t at = 0; scanned;) {
        size_t stop = scan_record(scanned, at);
        if (!stop) break;
        at = after_blanks(scanned, stop);
        if (at >= scanned->size || data[at] != ',') break;
        at = after_blanks(scanned, at + 1);
    }
    return scanned;
}

/* The value of each of the lines, each alone in its own; NULL where one is not plain. */
tape *scan_lines(const uint8_t *data, size_t size, const int64_t *starts, const int64_t *stops, size_t count) {
    tape *scanned = size < UINT32_MAX ? new_tape(data, size) : NULL;
    for (size_t line = 0; scanned && line < count; line++) {
        size_t stop = scan_record(scanned, (size_t)starts[line]);
        if (!stop || after_blanks(scanned, stop) < (size_t)stops[line] || stop > (size_t)stops[line]) {
            scan_free(scanned);
            return NULL;
        }
    }
    return scanned;
}

size_t scan_count(const tape *scanned) {
    return scanned->record_count;
}

/* Whether what follows the records is not plain. */
bool scan_is_odd(const tape *scanned) {
    return scanned->is_odd;
}

bool scan_are_objects(const tape *scanned) {
    for (size_t row = 0; row < scanned->record_count; row++)
        if (scanned->nodes[scanned->records[row].first].kind != OBJECT) return false;
    return true;
}

/* Where each record begins and ends. */
void scan_places(const tape *scanned, int64_t *starts, int64_t *stops) {
    for (size_t row = 0; row < scanned->record_count; row++) {
        const node *found = scanned->nodes + scanned->records[row].first;
        starts[row] = found->start;
        stops[row] = found->stop;
    }
}

static inline bool is_key(const tape *scanned, size_t place, int depth, const uint8_t *key, size_t size) {
    const node *found = scanned->nodes + place;
    return found->kind == KEY && found->depth == depth && found->stop - found->start == size
        && is_same(scanned->data + found->start, key, size);
}

static inline size_t member(const tape *scanned, const record *row, size_t object, const uint8_t *key, size_t size, memory *step) {
    const node *found = scanned->nodes + object;
    if (found->kind != OBJECT) return NOWHERE;
    size_t end = found->next, relative = object - row->first;
    bool is_same_object = step->object == relative;
    step->object = relative;
    if (step->place && object + step->place < end && is_key(scanned, object + step->place, found->depth + 1, key, size))
        return object + step->place + 1;
    if (!step->place && is_same_object && row->has_no_new_key) return NOWHERE;
    for (size_t place = object + 1; place < end; place = after_node(scanned, place + 1)) {
        if (is_key(scanned, place, found->depth + 1, key, size)) {
            step->place = place - object;
            return place + 1;
        }
    }
    step->place = 0;
    return NOWHERE;
}

/* The node that a record has at a path. `steps` are kept from one record to the next, and begin as `first_steps`. */
static inline size_t node_at(const tape *scanned, const path *path, size_t row, memory *steps) {
    const record *found = scanned->records + row;
    size_t place = found->first;
    const uint8_t *key = path->keys;
    for (size_t step = 0; step < path->depth && place != NOWHERE; step++) {
        place = member(scanned, found, place, key, path->sizes[step], steps + step);
        key += path->sizes[step];
    }
    return place;
}

static bool first_steps(const path *path, memory *steps) {
    for (size_t step = 0; step < path->depth && step < MOST_STEPS; step++) steps[step] = (memory){NOWHERE, 1};
    return path->depth <= MOST_STEPS;
}

/* The kind of value at a path, and where it begins and ends. 0 where the path is too long, 2 where the bytes of all values are
 * the same, or all records have none; else 1. */
int scan_column(const tape *scanned, const path *path, uint8_t *kinds, int64_t *starts, int64_t *stops) {
    memory steps[MOST_STEPS];
    if (!first_steps(path, steps)) return 0;
    bool are_same = true;
    for (size_t row = 0; row < scanned->record_count; row++) {
        size_t place = node_at(scanned, path, row, steps);
        node found = place == NOWHERE ? (node){0} : scanned->nodes[place];
        kinds[row] = found.kind;
        starts[row] = found.start;
        stops[row] = found.stop;
        are_same = are_same && kinds[0] == found.kind && stops[0] - starts[0] == stops[row] - starts[row]
            && is_same(scanned->data + starts[0], scanned->data + found.start, found.stop - found.start);
    }
    return are_same ? 2 : 1;
}

static int64_t integer(const uint8_t *written, size_t size) {
    bool is_negative = *written == '-';
    int64_t found = 0;
    for (size_t place = is_negative; place < size; place++) found = found * 10 + (written[place] - '0');
    return is_negative ? -found : found;
}

/* The integers at a path, and the kind of what is there: where that is FLOAT, where it begins and ends. False where there is
 * something else than numbers and null. */
bool scan_numbers(const tape *scanned, const path *path, uint8_t *kinds, int64_t *integers, int64_t *starts, int64_t *stops) {
    memory steps[MOST_STEPS];
    if (!first_steps(path, steps)) return false;
    for (size_t row = 0; row < scanned->record_count; row++) {
        size_t place = node_at(scanned, path, row, steps);
        node found = place == NOWHERE ? (node){0} : scanned->nodes[place];
        kinds[row] = found.kind;
        starts[row] = found.start;
        stops[row] = found.stop;
        if (found.kind == INTEGER) integers[row] = integer(scanned->data + found.start, found.stop - found.start);
        else if (found.kind != ABSENT && found.kind != IS_NULL && found.kind != FLOAT) return false;
    }
    return true;
}

/* How many elements the array at a path has; false where there is something else. */
bool scan_lengths(const tape *scanned, const path *path, int64_t *lengths) {
    memory steps[MOST_STEPS];
    if (!first_steps(path, steps)) return false;
    for (size_t row = 0; row < scanned->record_count; row++) {
        size_t place = node_at(scanned, path, row, steps);
        if (place == NOWHERE) return false;
        const node *found = scanned->nodes + place;
        if (found->kind != NUMBERS && found->kind != ARRAY) return false;
        lengths[row] = found->next;
        if (found->kind == ARRAY) {
            lengths[row] = 0;
            for (size_t element = place + 1; element < found->next; element = after_node(scanned, element)) lengths[row]++;
        }
    }
    return true;
}

/* Where the elements of these arrays begin and end, one array's after another's: of each as many as it has, as `scan_lengths` has
 * counted. */
void scan_parts(const tape *scanned, const path *path, int64_t *starts, int64_t *stops) {
    memory steps[MOST_STEPS];
    first_steps(path, steps);
    size_t count = 0;
    for (size_t row = 0; row < scanned->record_count; row++) {
        size_t place = node_at(scanned, path, row, steps);
        const node *found = scanned->nodes + place;
        if (found->kind == ARRAY) {
            for (size_t element = place + 1; element < found->next; element = after_node(scanned, element)) {
                starts[count] = scanned->nodes[element].start;
                stops[count++] = scanned->nodes[element].stop;
            }
            continue;
        }
        size_t at = found->start + 1;
        for (uint32_t element = 0; element < found->next; element++) { /* numbers: to the next blank, comma or bracket */
            at = after_blanks(scanned, at);
            starts[count] = (int64_t)at;
            while (scanned->data[at] > ' ' && scanned->data[at] != ',' && scanned->data[at] != ']') at++;
            stops[count++] = (int64_t)at;
            at = after_blanks(scanned, at) + 1;
        }
    }
}

/* Of the arrays of numbers at a path, where the first and the last begin and end, and how many there are; false where there is
 * something else. */
bool scan_ends(const tape *scanned, const path *path, int64_t *firsts, int64_t *first_stops, int64_t *lasts, int64_t *last_stops,
               int64_t *lengths) {
    memory steps[MOST_STEPS];
    if (!first_steps(path, steps)) return false;
    for (size_t row = 0; row < scanned->record_count; row++) {
        size_t place = node_at(scanned, path, row, steps);
        if (place == NOWHERE || scanned->nodes[place].kind != NUMBERS) return false;
        const node *found = scanned->nodes + place;
        size_t first = after_blanks(scanned, found->start + 1), stop = first, end = found->stop - 1, last;
        while (scanned->data[stop] > ' ' && scanned->data[stop] != ',' && scanned->data[stop] != ']') stop++;
        while (end > first && scanned->data[end - 1] <= ' ') end--;
        for (last = end; last > first && scanned->data[last - 1] > ' ' && scanned->data[last - 1] != ',';) last--;
        firsts[row] = (int64_t)first;
        first_stops[row] = (int64_t)stop;
        lasts[row] = (int64_t)last;
        last_stops[row] = (int64_t)end;
        lengths[row] = found->next;
    }
    return true;
}
