/* MPI for programs that nearfar's model checker runs. `nearfar-cc` and `nearfar-c++` find this header first.

   Handles are pointers, and predefined handles and error classes have the values of MPI 5.0's standard ABI
   where docs/checking-a-program.md says so. mpi_functions.h declares the functions. */
#ifndef NEARFAR_MPI_H
#define NEARFAR_MPI_H

#include <stddef.h>
#include <stdint.h>

#define NEARFAR_MPI 1
#define MPI_VERSION 4
#define MPI_SUBVERSION 1

#if defined(__cplusplus)
#define NEARFAR_MPI_HANDLE(type, value) (reinterpret_cast<type>(static_cast<intptr_t>(value)))
extern "C" {
#else
#define NEARFAR_MPI_HANDLE(type, value) ((type)(intptr_t)(value))
#endif

typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_File* MPI_File;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Message* MPI_Message;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Session* MPI_Session;
typedef struct MPI_ABI_Win* MPI_Win;
/* The tool interface, which has no variables here. */
typedef struct MPI_ABI_T_enum* MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle* MPI_T_cvar_handle;
#define MPI_T_ENUM_NULL NEARFAR_MPI_HANDLE(MPI_T_enum, 0)
#define MPI_T_CVAR_HANDLE_NULL NEARFAR_MPI_HANDLE(MPI_T_cvar_handle, 0)

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

#define MPI_SUCCESS 0
#define MPI_ERR_BUFFER 1
#define MPI_ERR_COUNT 2
#define MPI_ERR_TYPE 3
#define MPI_ERR_TAG 4
#define MPI_ERR_COMM 5
#define MPI_ERR_RANK 6
#define MPI_ERR_REQUEST 7
#define MPI_ERR_ROOT 8
#define MPI_ERR_GROUP 9
#define MPI_ERR_OP 10
#define MPI_ERR_TOPOLOGY 11
#define MPI_ERR_DIMS 12
#define MPI_ERR_ARG 13
#define MPI_ERR_UNKNOWN 14
#define MPI_ERR_TRUNCATE 15
#define MPI_ERR_OTHER 16
#define MPI_ERR_INTERN 17
#define MPI_ERR_PENDING 18
#define MPI_ERR_IN_STATUS 19
#define MPI_ERR_ACCESS 20
#define MPI_ERR_AMODE 21
#define MPI_ERR_ASSERT 22
#define MPI_ERR_BAD_FILE 23
#define MPI_ERR_BASE 24
#define MPI_ERR_CONVERSION 25
#define MPI_ERR_DISP 26
#define MPI_ERR_DUP_DATAREP 27
#define MPI_ERR_FILE_EXISTS 28
#define MPI_ERR_FILE_IN_USE 29
#define MPI_ERR_FILE 30
#define MPI_ERR_INFO_KEY 31
#define MPI_ERR_INFO_NOKEY 32
#define MPI_ERR_INFO_VALUE 33
#define MPI_ERR_INFO 34
#define MPI_ERR_IO 35
#define MPI_ERR_KEYVAL 36
#define MPI_ERR_LOCKTYPE 37
#define MPI_ERR_NAME 38
#define MPI_ERR_NO_MEM 39
#define MPI_ERR_NOT_SAME 40
#define MPI_ERR_NO_SPACE 41
#define MPI_ERR_NO_SUCH_FILE 42
#define MPI_ERR_PORT 43
#define MPI_ERR_PROC_ABORTED 44
#define MPI_ERR_QUOTA 45
#define MPI_ERR_READ_ONLY 46
#define MPI_ERR_RMA_ATTACH 47
#define MPI_ERR_RMA_CONFLICT 48
#define MPI_ERR_RMA_RANGE 49
#define MPI_ERR_RMA_SHARED 50
#define MPI_ERR_RMA_SYNC 51
#define MPI_ERR_RMA_FLAVOR 52
#define MPI_ERR_SERVICE 53
#define MPI_ERR_SESSION 54
#define MPI_ERR_SIZE 55
#define MPI_ERR_SPAWN 56
#define MPI_ERR_UNSUPPORTED_DATAREP 57
#define MPI_ERR_UNSUPPORTED_OPERATION 58
#define MPI_ERR_VALUE_TOO_LARGE 59
#define MPI_ERR_WIN 60
#define MPI_ERR_ERRHANDLER 62
#define MPI_ERR_LASTCODE 0x3fff
#define MPI_T_ERR_CANNOT_INIT 1001
#define MPI_T_ERR_NOT_ACCESSIBLE 1002
#define MPI_T_ERR_NOT_INITIALIZED 1003
#define MPI_T_ERR_NOT_SUPPORTED 1004
#define MPI_T_ERR_MEMORY 1005
#define MPI_T_ERR_INVALID 1006
#define MPI_T_ERR_INVALID_INDEX 1007
#define MPI_T_ERR_INVALID_ITEM 1008
#define MPI_T_ERR_INVALID_SESSION 1009
#define MPI_T_ERR_INVALID_HANDLE 1010
#define MPI_T_ERR_INVALID_NAME 1011

#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-2)
#define MPI_PROC_NULL (-3)
#define MPI_ROOT (-4)
#define MPI_UNDEFINED (-32766)
#define MPI_KEYVAL_INVALID 0
#define MPI_BSEND_OVERHEAD 512
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_PORT_NAME 1024
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_STRINGTAG_LEN 1024
#define MPI_MAX_PSET_NAME_LEN 1024
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_DATAREP_STRING 128
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE 4096
#define MPI_IDENT 201
#define MPI_CONGRUENT 202
#define MPI_SIMILAR 203
#define MPI_UNEQUAL 204
#define MPI_LOCK_EXCLUSIVE 301
#define MPI_LOCK_SHARED 302
#define MPI_COMM_TYPE_SHARED 401
#define MPI_COMM_TYPE_HW_GUIDED 402
#define MPI_COMM_TYPE_HW_UNGUIDED 403
#define MPI_COMM_TYPE_RESOURCE_GUIDED 404
#define MPI_ORDER_C 501
#define MPI_ORDER_FORTRAN 502
#define MPI_DISTRIBUTE_NONE 511
#define MPI_DISTRIBUTE_BLOCK 512
#define MPI_DISTRIBUTE_CYCLIC 513
#define MPI_DISTRIBUTE_DFLT_DARG (-1)
#define MPI_GRAPH 601
#define MPI_CART 602
#define MPI_DIST_GRAPH 603
#define MPI_MODE_NOCHECK 1024
#define MPI_MODE_NOPRECEDE 2048
#define MPI_MODE_NOPUT 4096
#define MPI_MODE_NOSTORE 8192
#define MPI_MODE_NOSUCCEED 16384
#define MPI_TYPECLASS_INTEGER 191
#define MPI_TYPECLASS_REAL 192
#define MPI_TYPECLASS_COMPLEX 193
#define MPI_TAG_UB 501
#define MPI_IO 502
#define MPI_HOST 503
#define MPI_WTIME_IS_GLOBAL 504
#define MPI_APPNUM 505
#define MPI_LASTUSEDCODE 506
#define MPI_UNIVERSE_SIZE 507
#define MPI_WIN_BASE 601
#define MPI_WIN_DISP_UNIT 602
#define MPI_WIN_SIZE 603
#define MPI_WIN_CREATE_FLAVOR 604
#define MPI_WIN_MODEL 605
#define MPI_WIN_FLAVOR_CREATE 311
#define MPI_WIN_FLAVOR_ALLOCATE 312
#define MPI_WIN_FLAVOR_DYNAMIC 313
#define MPI_WIN_FLAVOR_SHARED 314
#define MPI_WIN_SEPARATE 321
#define MPI_WIN_UNIFIED 322
#define MPI_COMBINER_NAMED 101
#define MPI_COMBINER_DUP 102
#define MPI_COMBINER_CONTIGUOUS 103
#define MPI_COMBINER_VECTOR 104
#define MPI_COMBINER_HVECTOR 105
#define MPI_COMBINER_INDEXED 106
#define MPI_COMBINER_HINDEXED 107
#define MPI_COMBINER_INDEXED_BLOCK 108
#define MPI_COMBINER_HINDEXED_BLOCK 109
#define MPI_COMBINER_STRUCT 110
#define MPI_COMBINER_SUBARRAY 111
#define MPI_COMBINER_DARRAY 112
#define MPI_COMBINER_F90_REAL 113
#define MPI_COMBINER_F90_COMPLEX 114
#define MPI_COMBINER_F90_INTEGER 115
#define MPI_COMBINER_RESIZED 116
#define MPI_MODE_CREATE 1
#define MPI_MODE_RDONLY 2
#define MPI_MODE_WRONLY 4
#define MPI_MODE_RDWR 8
#define MPI_MODE_DELETE_ON_CLOSE 16
#define MPI_MODE_UNIQUE_OPEN 32
#define MPI_MODE_EXCL 64
#define MPI_MODE_APPEND 128
#define MPI_MODE_SEQUENTIAL 256
#define MPI_SEEK_SET 600
#define MPI_SEEK_CUR 602
#define MPI_SEEK_END 604
#define MPI_DISPLACEMENT_CURRENT (-54278278)
#define MPI_BOTTOM ((void*)0)
#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_ERRCODES_IGNORE ((int*)0)
#define MPI_UNWEIGHTED ((int*)10)
#define MPI_WEIGHTS_EMPTY ((int*)11)
#define MPI_ARGV_NULL ((char**)0)
#define MPI_ARGVS_NULL ((char***)0)

#define MPI_COMM_NULL NEARFAR_MPI_HANDLE(MPI_Comm, 0x100)
#define MPI_COMM_WORLD NEARFAR_MPI_HANDLE(MPI_Comm, 0x101)
#define MPI_COMM_SELF NEARFAR_MPI_HANDLE(MPI_Comm, 0x102)
#define MPI_GROUP_NULL NEARFAR_MPI_HANDLE(MPI_Group, 0x108)
#define MPI_GROUP_EMPTY NEARFAR_MPI_HANDLE(MPI_Group, 0x109)
#define MPI_WIN_NULL NEARFAR_MPI_HANDLE(MPI_Win, 0x110)
#define MPI_FILE_NULL NEARFAR_MPI_HANDLE(MPI_File, 0x118)
#define MPI_SESSION_NULL NEARFAR_MPI_HANDLE(MPI_Session, 0x120)
#define MPI_MESSAGE_NULL NEARFAR_MPI_HANDLE(MPI_Message, 0x128)
#define MPI_MESSAGE_NO_PROC NEARFAR_MPI_HANDLE(MPI_Message, 0x129)
#define MPI_INFO_NULL NEARFAR_MPI_HANDLE(MPI_Info, 0x130)
#define MPI_INFO_ENV NEARFAR_MPI_HANDLE(MPI_Info, 0x131)
#define MPI_ERRHANDLER_NULL NEARFAR_MPI_HANDLE(MPI_Errhandler, 0x140)
#define MPI_ERRORS_ARE_FATAL NEARFAR_MPI_HANDLE(MPI_Errhandler, 0x141)
#define MPI_ERRORS_RETURN NEARFAR_MPI_HANDLE(MPI_Errhandler, 0x142)
#define MPI_ERRORS_ABORT NEARFAR_MPI_HANDLE(MPI_Errhandler, 0x143)
#define MPI_REQUEST_NULL NEARFAR_MPI_HANDLE(MPI_Request, 0x180)
#define MPI_OP_NULL NEARFAR_MPI_HANDLE(MPI_Op, 0x20)
#define MPI_SUM NEARFAR_MPI_HANDLE(MPI_Op, 0x21)
#define MPI_MIN NEARFAR_MPI_HANDLE(MPI_Op, 0x22)
#define MPI_MAX NEARFAR_MPI_HANDLE(MPI_Op, 0x23)
#define MPI_PROD NEARFAR_MPI_HANDLE(MPI_Op, 0x24)
#define MPI_BAND NEARFAR_MPI_HANDLE(MPI_Op, 0x28)
#define MPI_BOR NEARFAR_MPI_HANDLE(MPI_Op, 0x29)
#define MPI_BXOR NEARFAR_MPI_HANDLE(MPI_Op, 0x2a)
#define MPI_LAND NEARFAR_MPI_HANDLE(MPI_Op, 0x30)
#define MPI_LOR NEARFAR_MPI_HANDLE(MPI_Op, 0x31)
#define MPI_LXOR NEARFAR_MPI_HANDLE(MPI_Op, 0x32)
#define MPI_MINLOC NEARFAR_MPI_HANDLE(MPI_Op, 0x38)
#define MPI_MAXLOC NEARFAR_MPI_HANDLE(MPI_Op, 0x39)
#define MPI_REPLACE NEARFAR_MPI_HANDLE(MPI_Op, 0x3c)
#define MPI_NO_OP NEARFAR_MPI_HANDLE(MPI_Op, 0x3d)
#define MPI_DATATYPE_NULL NEARFAR_MPI_HANDLE(MPI_Datatype, 0x200)
#define MPI_AINT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x201)
#define MPI_COUNT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x202)
#define MPI_OFFSET NEARFAR_MPI_HANDLE(MPI_Datatype, 0x203)
#define MPI_PACKED NEARFAR_MPI_HANDLE(MPI_Datatype, 0x207)
#define MPI_SHORT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x208)
#define MPI_INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x209)
#define MPI_LONG NEARFAR_MPI_HANDLE(MPI_Datatype, 0x20a)
#define MPI_LONG_LONG NEARFAR_MPI_HANDLE(MPI_Datatype, 0x20b)
#define MPI_LONG_LONG_INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x20b)
#define MPI_UNSIGNED_SHORT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x20c)
#define MPI_UNSIGNED NEARFAR_MPI_HANDLE(MPI_Datatype, 0x20d)
#define MPI_UNSIGNED_LONG NEARFAR_MPI_HANDLE(MPI_Datatype, 0x20e)
#define MPI_UNSIGNED_LONG_LONG NEARFAR_MPI_HANDLE(MPI_Datatype, 0x20f)
#define MPI_FLOAT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x210)
#define MPI_C_FLOAT_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x212)
#define MPI_C_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x212)
#define MPI_CXX_FLOAT_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x213)
#define MPI_DOUBLE NEARFAR_MPI_HANDLE(MPI_Datatype, 0x214)
#define MPI_C_DOUBLE_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x216)
#define MPI_CXX_DOUBLE_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x217)
#define MPI_LOGICAL NEARFAR_MPI_HANDLE(MPI_Datatype, 0x218)
#define MPI_INTEGER NEARFAR_MPI_HANDLE(MPI_Datatype, 0x219)
#define MPI_REAL NEARFAR_MPI_HANDLE(MPI_Datatype, 0x21a)
#define MPI_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x21b)
#define MPI_DOUBLE_PRECISION NEARFAR_MPI_HANDLE(MPI_Datatype, 0x21c)
#define MPI_DOUBLE_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x21d)
#define MPI_CHARACTER NEARFAR_MPI_HANDLE(MPI_Datatype, 0x21e)
#define MPI_LONG_DOUBLE NEARFAR_MPI_HANDLE(MPI_Datatype, 0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX NEARFAR_MPI_HANDLE(MPI_Datatype, 0x225)
#define MPI_FLOAT_INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x228)
#define MPI_DOUBLE_INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x229)
#define MPI_LONG_INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x22a)
#define MPI_2INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x22b)
#define MPI_SHORT_INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x22c)
#define MPI_LONG_DOUBLE_INT NEARFAR_MPI_HANDLE(MPI_Datatype, 0x22d)
#define MPI_2REAL NEARFAR_MPI_HANDLE(MPI_Datatype, 0x230)
#define MPI_2DOUBLE_PRECISION NEARFAR_MPI_HANDLE(MPI_Datatype, 0x231)
#define MPI_2INTEGER NEARFAR_MPI_HANDLE(MPI_Datatype, 0x232)
#define MPI_C_BOOL NEARFAR_MPI_HANDLE(MPI_Datatype, 0x238)
#define MPI_CXX_BOOL NEARFAR_MPI_HANDLE(MPI_Datatype, 0x239)
#define MPI_WCHAR NEARFAR_MPI_HANDLE(MPI_Datatype, 0x23c)
#define MPI_INT8_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x240)
#define MPI_UINT8_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x241)
#define MPI_CHAR NEARFAR_MPI_HANDLE(MPI_Datatype, 0x243)
#define MPI_SIGNED_CHAR NEARFAR_MPI_HANDLE(MPI_Datatype, 0x244)
#define MPI_UNSIGNED_CHAR NEARFAR_MPI_HANDLE(MPI_Datatype, 0x245)
#define MPI_BYTE NEARFAR_MPI_HANDLE(MPI_Datatype, 0x247)
#define MPI_INT16_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x248)
#define MPI_UINT16_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x249)
#define MPI_INT32_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x250)
#define MPI_UINT32_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x251)
#define MPI_INT64_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x258)
#define MPI_UINT64_T NEARFAR_MPI_HANDLE(MPI_Datatype, 0x259)

typedef void(MPI_User_function)(void*, void*, int*, MPI_Datatype*);
typedef void(MPI_User_function_c)(void*, void*, MPI_Count*, MPI_Datatype*);
typedef void(MPI_Comm_errhandler_function)(MPI_Comm*, int*, ...);
typedef void(MPI_File_errhandler_function)(MPI_File*, int*, ...);
typedef void(MPI_Win_errhandler_function)(MPI_Win*, int*, ...);
typedef void(MPI_Session_errhandler_function)(MPI_Session*, int*, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm, int, void*, void*, void*, int*);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm, int, void*, void*);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype, int, void*, void*, void*, int*);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype, int, void*, void*);
typedef int(MPI_Win_copy_attr_function)(MPI_Win, int, void*, void*, void*, int*);
typedef int(MPI_Win_delete_attr_function)(MPI_Win, int, void*, void*);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef int(MPI_Grequest_query_function)(void*, MPI_Status*);
typedef int(MPI_Grequest_free_function)(void*);
typedef int(MPI_Grequest_cancel_function)(void*, int);
typedef int(MPI_Datarep_conversion_function)(void*, MPI_Datatype, int, void*, MPI_Offset, void*);
typedef int(MPI_Datarep_conversion_function_c)(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset, void*);
typedef int(MPI_Datarep_extent_function)(MPI_Datatype, MPI_Aint*, void*);

#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function*)1)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function*)1)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function*)0)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function*)0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function*)1)
#define MPI_NULL_COPY_FN ((MPI_Copy_function*)0)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function*)0)
#define MPI_DUP_FN ((MPI_Copy_function*)1)
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function*)0)

#include "mpi_functions.h"

#if defined(__cplusplus)
}
#endif

#endif
