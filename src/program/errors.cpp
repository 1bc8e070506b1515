// Error handlers, error classes and codes.
#include <array>
#include <cstring>
#include <string>

#include "windows.hpp"

namespace nearfar::program {

struct error_handler {
  MPI_Comm_errhandler_function* of_communicators = nullptr;
  MPI_Win_errhandler_function* of_windows = nullptr;
};

namespace {

struct named_error {
  int value;
  const char* name;
};

#define NEARFAR_ERROR(name) \
  named_error { MPI_##name, "MPI_" #name }
constexpr std::array errors{
    NEARFAR_ERROR(SUCCESS),        NEARFAR_ERROR(ERR_BUFFER),     NEARFAR_ERROR(ERR_COUNT),
    NEARFAR_ERROR(ERR_TYPE),       NEARFAR_ERROR(ERR_TAG),        NEARFAR_ERROR(ERR_COMM),
    NEARFAR_ERROR(ERR_RANK),       NEARFAR_ERROR(ERR_REQUEST),    NEARFAR_ERROR(ERR_ROOT),
    NEARFAR_ERROR(ERR_GROUP),      NEARFAR_ERROR(ERR_OP),         NEARFAR_ERROR(ERR_TOPOLOGY),
    NEARFAR_ERROR(ERR_DIMS),       NEARFAR_ERROR(ERR_ARG),        NEARFAR_ERROR(ERR_UNKNOWN),
    NEARFAR_ERROR(ERR_TRUNCATE),   NEARFAR_ERROR(ERR_OTHER),      NEARFAR_ERROR(ERR_INTERN),
    NEARFAR_ERROR(ERR_PENDING),    NEARFAR_ERROR(ERR_IN_STATUS),  NEARFAR_ERROR(ERR_ASSERT),
    NEARFAR_ERROR(ERR_BASE),       NEARFAR_ERROR(ERR_DISP),       NEARFAR_ERROR(ERR_INFO_KEY),
    NEARFAR_ERROR(ERR_INFO_NOKEY), NEARFAR_ERROR(ERR_INFO_VALUE), NEARFAR_ERROR(ERR_INFO),
    NEARFAR_ERROR(ERR_KEYVAL),     NEARFAR_ERROR(ERR_LOCKTYPE),   NEARFAR_ERROR(ERR_NAME),
    NEARFAR_ERROR(ERR_NO_MEM),     NEARFAR_ERROR(ERR_RMA_ATTACH), NEARFAR_ERROR(ERR_RMA_CONFLICT),
    NEARFAR_ERROR(ERR_RMA_RANGE),  NEARFAR_ERROR(ERR_RMA_SHARED), NEARFAR_ERROR(ERR_RMA_SYNC),
    NEARFAR_ERROR(ERR_RMA_FLAVOR), NEARFAR_ERROR(ERR_SIZE),       NEARFAR_ERROR(ERR_UNSUPPORTED_OPERATION),
    NEARFAR_ERROR(ERR_WIN),        NEARFAR_ERROR(ERR_ERRHANDLER)};
#undef NEARFAR_ERROR

[[nodiscard]] const char* kind_of(int error_class) noexcept {
  return error_class == MPI_ERR_RMA_SYNC ? "epoch" : error_class == MPI_ERR_RMA_RANGE ? "range" : "argument";
}

[[noreturn]] void fail_with(int error_class, const std::string& text, const std::string& rule,
                            const involved* other) {
  fault what{.kind = kind_of(error_class),
             .text = text + " (" + name_of_error(error_class) + ")",
             .places = {},
             .rule = rule};
  what.places.push_back({.rank = self().number, .what = {}, .where = self().here()});
  if (other != nullptr) what.places.push_back(*other);
  fail(std::move(what));
}

}  // namespace

const char* name_of_error(int error_class) noexcept {
  for (const named_error one : errors)
    if (one.value == error_class) return one.name;
  return "an error without a name";
}

int error_of(communicator* in, int error_class, const std::string& text, const std::string& rule,
             const involved* other) {
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  // Errors that belong to no communicator are those of MPI_COMM_SELF in MPI 4; programs set the handler of
  // the world.
  if (in != nullptr) handler = in->mine().handler;
  if (handler == MPI_ERRORS_RETURN) return error_class;
  if (error_handler* const own_handler = own().error_handlers.find(handler); own_handler != nullptr) {
    MPI_Comm comm = handle_of(in);
    int code = error_class;
    is_inside = true;
    own_handler->of_communicators(&comm, &code);
    is_inside = false;
    return error_class;
  }
  fail_with(error_class, text, rule, other);
}

int error_of(window* in, int error_class, const std::string& text, const std::string& rule,
             const involved* other) {
  const MPI_Errhandler handler = in->mine().handler;
  if (handler == MPI_ERRORS_RETURN) return error_class;
  if (error_handler* const own_handler = own().error_handlers.find(handler); own_handler != nullptr) {
    MPI_Win win = MPI_WIN_NULL;
    for (std::size_t i = 0; i < own().windows.all().size(); ++i)
      if (own().windows.all()[i] == in) win = decltype(own().windows)::handle_at(i);
    int code = error_class;
    is_inside = true;
    own_handler->of_windows(&win, &code);
    is_inside = false;
    return error_class;
  }
  fail_with(error_class, text, rule, other);
}

}  // namespace nearfar::program

using namespace nearfar::program;  // NOLINT(google-build-using-namespace)

extern "C" {

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Comm_create_errhandler);
  *errhandler =
      own().error_handlers.add(make_for_run<error_handler>(error_handler{comm_errhandler_fn, nullptr}));
  return MPI_SUCCESS;
}

int MPI_Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Win_create_errhandler);
  *errhandler =
      own().error_handlers.add(make_for_run<error_handler>(error_handler{nullptr, win_errhandler_fn}));
  return MPI_SUCCESS;
}

int MPI_Errhandler_free(MPI_Errhandler* errhandler) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Errhandler_free);
  *errhandler = MPI_ERRHANDLER_NULL;  // those that use it keep it
  return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  NEARFAR_MPI_CALL(MPI_Comm_set_errhandler);
  communicator_of(comm).mine().handler = errhandler;
  return MPI_SUCCESS;
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  NEARFAR_MPI_CALL(MPI_Comm_get_errhandler);
  *errhandler = communicator_of(comm).mine().handler;
  return MPI_SUCCESS;
}

int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  NEARFAR_MPI_CALL(MPI_Comm_call_errhandler);
  static_cast<void>(error_of(&communicator_of(comm), errorcode, "the program calls the error handler"));
  return MPI_SUCCESS;
}

int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  NEARFAR_MPI_CALL(MPI_Win_set_errhandler);
  window_of(win).mine().handler = errhandler;
  return MPI_SUCCESS;
}

int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  NEARFAR_MPI_CALL(MPI_Win_get_errhandler);
  *errhandler = window_of(win).mine().handler;
  return MPI_SUCCESS;
}

int MPI_Win_call_errhandler(MPI_Win win, int errorcode) {
  NEARFAR_MPI_CALL(MPI_Win_call_errhandler);
  static_cast<void>(error_of(&window_of(win), errorcode, "the program calls the error handler"));
  return MPI_SUCCESS;
}

// Older names of the same functions.

int MPI_Errhandler_create(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  return MPI_Comm_create_errhandler(comm_errhandler_fn, errhandler);
}

int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  NEARFAR_MPI_CALL(MPI_Errhandler_set);
  communicator_of(comm).mine().handler = errhandler;
  return MPI_SUCCESS;
}

int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  NEARFAR_MPI_CALL(MPI_Errhandler_get);
  *errhandler = communicator_of(comm).mine().handler;
  return MPI_SUCCESS;
}

int MPI_Error_class(int errorcode, int* errorclass) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Error_class);
  *errorclass = errorcode;
  return MPI_SUCCESS;
}

int MPI_Error_string(int errorcode, char* string, int* resultlen) {
  NEARFAR_MPI_CALL_AT_ANY_TIME(MPI_Error_string);
  std::strncpy(string, name_of_error(errorcode), MPI_MAX_ERROR_STRING - 1);
  *resultlen = static_cast<int>(std::strlen(string));
  return MPI_SUCCESS;
}
}
